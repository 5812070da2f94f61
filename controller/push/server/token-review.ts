/** The verdict of the API server on a token. */
export interface TokenReview {
  readonly isAuthenticated: boolean;
  readonly audiences: readonly string[];
  readonly username: string;
  /** Names of the pods that the token is bound to. */
  readonly pods: readonly string[];
}

const POD_NAME = 'authentication.kubernetes.io/pod-name';
const UNKNOWN: TokenReview = { isAuthenticated: false, audiences: [], username: '', pods: [] };

/** Parses a TokenReview. A missing or malformed one is a denial. */
export function parseTokenReview(response: unknown): TokenReview {
  const status = member(response, 'status');
  if (member(status, 'authenticated') !== true) return UNKNOWN;
  const user = member(status, 'user');
  const username = member(user, 'username');
  return {
    isAuthenticated: true,
    audiences: strings(member(status, 'audiences')),
    username: typeof username === 'string' ? username : '',
    pods: strings(member(member(user, 'extra'), POD_NAME)),
  };
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([key]) => key === name)?.[1];
}

function strings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.every((each) => typeof each === 'string') ? value : [];
}
