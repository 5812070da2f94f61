/** An account. Users who did not give their name have none. */
export interface GithubAccount {
  readonly id: number;
  readonly login: string;
  readonly name: string | null;
  readonly emails: readonly GithubEmail[];
}

interface GithubEmail {
  readonly email: string;
  readonly primary: boolean;
  readonly verified: boolean;
  readonly visibility: 'public' | 'private' | null;
}

/** What a token or a code stands for. */
export interface Issued {
  readonly login: string;
  readonly scopes: readonly string[];
}

/** Everything that a fake GitHub knows, of one app. */
export interface GithubState {
  /** The tokens of OAuth apps never expire; those of GitHub Apps do, and are refreshed. */
  readonly kind: 'oauth-app' | 'github-app';
  readonly clientId: string;
  readonly clientSecret: string;
  /** The registered callback URL. */
  callbackUrl: string;
  /** By login. A removed account is deleted at GitHub. */
  readonly accounts: Map<string, GithubAccount>;
  /** Whether users give the scopes that are requested. */
  grantsScopes: boolean;
  /** Makes the API refuse requests as beyond the rate limit. */
  isLimited: boolean;
  /** Makes the access tokens of OAuth apps. */
  newAccessToken: () => string;
  readonly codes: Map<string, IssuedCode>;
  readonly accessTokens: Map<string, Issued>;
  readonly refreshTokens: Map<string, Issued & { readonly accessToken: string }>;
}

/** A code that was not used yet. */
export interface IssuedCode extends Issued {
  readonly redirectUri: string;
  readonly challenge: string;
}

/** Has an address that is public, and a primary one that is not. */
export const OCTOCAT: GithubAccount = {
  ...{ id: 583231, login: 'octocat', name: 'Mona Lisa' },
  emails: [
    { email: 'public@example.com', primary: false, verified: true, visibility: 'public' },
    { email: 'alice@example.com', primary: true, verified: true, visibility: 'private' },
  ],
};

/** Has no name, and entered the address of somebody else. */
export const HUBOT: GithubAccount = {
  ...{ id: 480938, login: 'hubot', name: null },
  emails: [{ email: 'alice@example.com', primary: true, verified: false, visibility: null }],
};
