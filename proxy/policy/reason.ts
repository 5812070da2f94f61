/**
 * Reason codes (specification: Authorization log record).
 *
 * `-ok` means that a criterion held, `-unauthorized` that it did not. The codes of `mcp_tool` mean that
 * the criterion permits the tool, or does not, at its position.
 */
export type Reason =
  | 'accept'
  | 'reject'
  | 'authenticated-user'
  | 'user-unauthenticated'
  | `${MatchedSubject}-ok`
  | `${MatchedSubject}-unauthorized`;

/** What criteria with a string matcher test. */
export type MatchedSubject =
  'user' | 'email' | 'domain' | 'groups' | 'claim' | 'http-method' | 'http-path' | 'mcp-tool';
