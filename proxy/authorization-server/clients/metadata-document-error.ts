import { AuthorizationPageError } from '../../errors/authorization-page-errors.ts';

/** Why no client could be read from a metadata document. */
export type MetadataDocumentProblem =
  /** Its server cannot be reached or fails: it may be available later. */
  | 'unavailable'
  /** The client ID, the response or the document breaks a rule. */
  | 'invalid';

const REASONS: Readonly<Record<MetadataDocumentProblem, string>> = {
  unavailable: 'client-metadata-unavailable',
  invalid: 'client-metadata-invalid',
};

/** No client could be read from the URL that is the client ID. The authorization request ends here. */
export class MetadataDocumentError extends AuthorizationPageError {
  override readonly name = 'MetadataDocumentError';
  readonly problem: MetadataDocumentProblem;

  constructor(problem: MetadataDocumentProblem, explanation: string, options?: ErrorOptions) {
    super(REASONS[problem], explanation, options);
    this.problem = problem;
  }
}
