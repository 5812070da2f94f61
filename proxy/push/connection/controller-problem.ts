import { describeError } from '../../../shared/telemetry/describe-error.ts';
import { ProtocolError } from './protocol-error.ts';

/**
 * Why a proxy has no stream to the leading controller.
 *
 * - `unreachable`: no server answers, or the connection ended
 * - `certificate`: the server's certificate is not valid, not from our authorities, or not for the
 *   host
 * - `ca-file`, `token-file`: the file cannot be read, or does not hold what it should
 * - `refused`: a controller refuses this proxy
 * - `no-leader`: controllers answer, but no controller leads
 * - `same-id`: another proxy has the same id
 * - `protocol`: a controller breaks the push protocol
 */
export type ControllerProblem =
  | 'unreachable'
  | 'certificate'
  | 'ca-file'
  | 'token-file'
  | 'refused'
  | 'no-leader'
  | 'same-id'
  | 'protocol';

/**
 * The source of a problem: the flag and file that an operator can change, and the address
 * dialled.
 */
export interface ProblemSource {
  readonly flag?: string;
  readonly file?: string;
  readonly address?: string;
}

/** Thrown if the problem behind a failure is known. `cause` is the failure. */
export class ControllerProblemError extends Error {
  override readonly name = 'ControllerProblemError';
  readonly problem: ControllerProblem;
  readonly source: ProblemSource;

  constructor(problem: ControllerProblem, source: ProblemSource, cause: unknown) {
    super('cannot connect to the controller', { cause });
    this.problem = problem;
    this.source = source;
  }
}

/** Advice that Node adds to errors of OpenSSL, for people who start Node themselves. */
const ADVICE = /; if the root CA is installed locally, [^;)]*--use-system-ca/g;

/** A failure as it is logged. */
export interface DescribedProblem extends ProblemSource {
  readonly problem: ControllerProblem;
  readonly error: string;
}

/** Describes any failure for the log. */
export function describeProblem(failure: unknown): DescribedProblem {
  const isKnown = failure instanceof ControllerProblemError;
  const error = describeError(isKnown ? failure.cause : failure).replace(ADVICE, '');
  if (isKnown) return { problem: failure.problem, ...failure.source, error };
  return { problem: failure instanceof ProtocolError ? 'protocol' : 'unreachable', error };
}
