/**
 * Reason codes (specification: Authorization log record).
 *
 * `-ok` means that a criterion held, `-unauthorized` that it did not. The codes of `mcp_tool` are about
 * the tool, in both blocks: `-unauthorized` is a reason to deny it, `-ok` is not, and `mcp-no-tool` is why
 * a criterion does not stand against a request that calls no tool.
 */
export type Reason =
  | 'accept'
  | 'reject'
  | 'authenticated-user'
  | 'user-unauthenticated'
  | 'mcp-no-tool'
  | `${MatchedSubject}-ok`
  | `${MatchedSubject}-unauthorized`;

/** The subjects that criteria with a string matcher test. */
export type MatchedSubject =
  'user' | 'email' | 'domain' | 'groups' | 'claim' | 'http-method' | 'http-path' | 'mcp-tool';
