import { memberOf } from '../../kubernetes/member-of.ts';

/** The answer of the API server about a token. */
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
  const status = memberOf(response, 'status');
  if (memberOf(status, 'authenticated') !== true) return UNKNOWN;
  const user = memberOf(status, 'user');
  const username = memberOf(user, 'username');
  return {
    isAuthenticated: true,
    audiences: strings(memberOf(status, 'audiences')),
    username: typeof username === 'string' ? username : '',
    pods: strings(memberOf(memberOf(user, 'extra'), POD_NAME)),
  };
}

function strings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.every((each) => typeof each === 'string') ? value : [];
}
