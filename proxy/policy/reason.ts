/**
 * Reason codes (specification: Authorization log record).
 *
 * A code says what a criterion found: `-ok` that it held, `-unauthorized` that it did not. Those of
 * `mcp_tool` say more: whether it speaks for the tool where it stands.
 */
export type Reason =
  | 'accept'
  | 'reject'
  | 'authenticated-user'
  | 'user-unauthenticated'
  | `${MatchedSubject}-ok`
  | `${MatchedSubject}-unauthorized`;

/** What criteria with a string matcher ask about. */
export type MatchedSubject =
  'user' | 'email' | 'domain' | 'groups' | 'claim' | 'http-method' | 'http-path' | 'mcp-tool';
