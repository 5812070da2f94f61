import type { Origin } from '../../shared/snapshot/origin.ts';

/** What a browser's cookie stands for, on one host. */
export interface BrowserSession {
  readonly sessionId: string;
  /** The origin whose cookie it is; on another one it means nothing. */
  readonly origin: Origin;
}
