import type { GuardedFetch } from '../../proxy/outbound/guarded-fetch.ts';
import type { UpstreamCallsOptions } from '../../proxy/upstream-oauth/calls/upstream-calls.ts';
import { errorCode } from '../../shared/runtime/error-code.ts';

/** One request of an examination, and what became of it. */
export interface RecordedCall {
  /** What it was for, as in the log of the gateway. */
  readonly step: string;
  readonly method: string;
  readonly url: string;
  /** The status and what matters of the header, or why there is no response. */
  readonly got: string;
  /** Absent if there is no response. */
  readonly status?: number;
}

/** Long enough for every real challenge. */
const MAX_CHALLENGE = 300;

/** Records the requests of `UpstreamCalls`, which are made one after the other. */
export class CallRecorder {
  readonly calls: RecordedCall[] = [];
  #last: Omit<RecordedCall, 'step'> | undefined;

  /** Returns a fetch that records, with the logger that knows what each request was for. */
  record(guardedFetch: GuardedFetch): Pick<UpstreamCallsOptions, 'guardedFetch' | 'logger'> {
    return {
      guardedFetch: async (url, options) => {
        const { method = 'GET' } = options;
        try {
          const response = await guardedFetch(url, options);
          const { status, headers } = response;
          const challenge = headers['www-authenticate']?.slice(0, MAX_CHALLENGE);
          const got = [
            `status ${String(status)}`,
            ...(challenge === undefined ? [] : [`WWW-Authenticate: ${challenge}`]),
            ...(headers.location === undefined ? [] : ['a redirect, which is not followed']),
          ];
          this.#last = { method, url, status, got: got.join(', ') };
          return response;
        } catch (error) {
          this.#last = { method, url, got: reasonOf(error) };
          throw error;
        }
      },
      logger: {
        info: (_message, { step } = {}) => {
          if (this.#last !== undefined) this.calls.push({ ...this.#last, step: String(step) });
        },
      },
    };
  }
}

/** The message of an error, with the code of what caused it: of TLS, or of the connection. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = errorCode(error.cause);
  return code === undefined ? error.message : `${error.message} (${code})`;
}
