import { randomBytes } from 'node:crypto';

import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

/** Shows the sign-in URL to the user, without waiting for the sign-in. */
export type ShowSignIn = (url: URL) => void | Promise<void>;

/** The OAuth state of the demo client for the SDK, kept in memory for one run. */
export class ClientAuthorization implements OAuthClientProvider {
  readonly redirectUrl: string;
  readonly clientMetadata: OAuthClientMetadata;
  readonly #showSignIn: ShowSignIn;
  readonly #state = randomBytes(32).toString('base64url');
  #client: StoredOAuthClientInformation | undefined;
  #tokens: StoredOAuthTokens | undefined;
  #discovery: OAuthDiscoveryState | undefined;
  #verifier = '';

  constructor(redirectUrl: string, showSignIn: ShowSignIn) {
    this.redirectUrl = redirectUrl;
    this.#showSignIn = showSignIn;
    this.clientMetadata = {
      client_name: 'Gatehouse demo client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    };
  }

  state(): string {
    return this.#state;
  }

  /** Whether a callback belongs to the request of this client. */
  isOwn(callback: URLSearchParams): boolean {
    return callback.get('state') === this.#state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.#tokens;
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.#tokens = tokens;
  }

  /** The code goes to the authorization server that the user was sent to, and to no other. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    await this.#showSignIn(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }
}
