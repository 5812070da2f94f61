import { describeError } from '../../../shared/telemetry/describe-error.ts';
import { ProtocolError } from './protocol-error.ts';

/**
 * Why a proxy has no stream to the leading controller.
 *
 * - `unreachable`: nobody answers, or the connection ended
 * - `certificate`: who answers has none that is valid, from an authority of ours, and for the host
 * - `ca-file`, `token-file`: what is needed to ask cannot be read
 * - `refused`: a controller lets this proxy have nothing
 * - `no-leader`: controllers answer, and none leads
 * - `same-id`: another proxy has the id of this one
 * - `protocol`: a controller sends what makes no sense
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

/** Where a problem comes from: what the operator set that has to do with it, and who was dialled. */
export interface ProblemSource {
  readonly flag?: string;
  readonly file?: string;
  readonly address?: string;
}

/** A failure whose problem was known where it happened. `cause` is what went wrong. */
export class ControllerProblemError extends Error {
  override readonly name = 'ControllerProblemError';
  readonly problem: ControllerProblem;
  readonly source: ProblemSource;

  constructor(problem: ControllerProblem, source: ProblemSource, cause: unknown) {
    super('the controller cannot be followed', { cause });
    this.problem = problem;
    this.source = source;
  }
}

/** What Node adds to an error of OpenSSL, for those who run their own program. */
const ADVICE = /; if the root CA is installed locally, [^;)]*--use-system-ca/g;

/** A failure as the log has it. */
export interface DescribedProblem extends ProblemSource {
  readonly problem: ControllerProblem;
  readonly error: string;
}

/** Puts any failure in that form. */
export function describeProblem(failure: unknown): DescribedProblem {
  const isKnown = failure instanceof ControllerProblemError;
  const error = describeError(isKnown ? failure.cause : failure).replace(ADVICE, '');
  if (isKnown) return { problem: failure.problem, ...failure.source, error };
  return { problem: failure instanceof ProtocolError ? 'protocol' : 'unreachable', error };
}
