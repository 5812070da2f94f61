import { AuthorizationPageError } from '../../errors/authorization-page-errors.ts';

export type MetadataDocumentProblem =
  /** Its server cannot be reached, or says that it is in trouble: it may be had later. */
  | 'unavailable'
  /** The client ID, the answer or the document breaks a rule. */
  | 'invalid';

/** The client ID is a URL, and no client could be had from it. The authorization request ends here. */
export class MetadataDocumentError extends AuthorizationPageError {
  override readonly name = 'MetadataDocumentError';
  readonly problem: MetadataDocumentProblem;

  constructor(problem: MetadataDocumentProblem, explanation: string, options?: ErrorOptions) {
    super(`client-metadata-${problem}`, explanation, options);
    this.problem = problem;
  }
}
