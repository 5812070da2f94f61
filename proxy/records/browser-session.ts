import type { Origin } from '../../shared/snapshot/origin.ts';

/** The session of a browser on one host. */
export interface BrowserSession {
  readonly sessionId: string;
  /** The only origin at which its cookie is valid. */
  readonly origin: Origin;
}
