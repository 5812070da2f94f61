import type { Origin } from '../../shared/snapshot/origin.ts';
import type { TraceContext } from '../../shared/telemetry/tracing/trace-context.ts';

/** The session of a browser on one host. */
export interface BrowserSession {
  readonly sessionId: string;
  /** The only origin at which its cookie is valid. */
  readonly origin: Origin;
  /** The end of the sign-in that began it. Absent without tracing, and in records of earlier releases. */
  readonly signIn?: TracedSignIn;
}

/** The end of a sign-in, as a trace shows it. */
export interface TracedSignIn {
  readonly trace: TraceContext;
  /** Milliseconds since the epoch. */
  readonly endedAt: number;
}
