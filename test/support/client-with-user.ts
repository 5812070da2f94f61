import {
  Client,
  StreamableHTTPClientTransport,
  UrlElicitationRequiredError,
  type OAuthClientProvider,
} from '@modelcontextprotocol/client';
import { Client as ClassicClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as ClassicTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UrlElicitationRequiredError as ClassicUrlError } from '@modelcontextprotocol/sdk/types.js';

import { BrowserJar, type BrowserPage } from './browser-jar.ts';
import { localhostFetch, localhostFetchFrom } from './localhost-fetch.ts';
import { walkThroughForms } from './walk-through-forms.ts';

type Promised<Method> = Method extends (...args: never[]) => infer Result ? Awaited<Result> : never;
type ClientInformation = Promised<OAuthClientProvider['clientInformation']>;
type Tokens = Promised<OAuthClientProvider['tokens']>;
type Discovery = Promised<NonNullable<OAuthClientProvider['discoveryState']>>;

interface ClientWithUserOptions {
  /** Login name at the providers. Defaults to alice everywhere. */
  readonly loginAt?: (page: BrowserPage) => string;
  readonly browser?: BrowserJar;
  /**
   * Era of the protocol: `legacy` is 2025-11-25 and older, and `classic` the same by the SDK 1.x. Defaults to
   * what the server has.
   */
  readonly mode?: 'auto' | 'legacy' | 'classic';
  /** The client opens URLs for its user (MCP, Elicitation, URL mode), who does what the pages ask. */
  readonly opensUrls?: boolean;
  /** How often the user does what the client asks, in all. Defaults to three times. */
  readonly patience?: number;
  /** The client's address in 127.0.0.0/8, for which the gateway has limits. */
  readonly address?: string;
  /** What the client sends requests with; by default to this machine only. */
  readonly fetch?: typeof fetch;
}

/** The methods of both generations of the SDK that are used here. */
type Connection = Pick<Client, 'listTools' | 'callTool' | 'close'>;

const REDIRECT_URI = 'http://127.0.0.1:1/callback';
const INFO = { name: 'test', version: '1' };

/**
 * An MCP client on the official SDK, and its user, who signs in, approves and connects whenever the client
 * asks for it: both do what real ones do, so a gateway that asks again and again is noticed.
 */
export class ClientWithUser implements AsyncDisposable {
  readonly browser: BrowserJar;
  readonly #url: URL;
  readonly #options: Required<Omit<ClientWithUserOptions, 'browser' | 'address' | 'fetch'>>;
  readonly #provider: OAuthClientProvider;
  readonly #fetch: typeof fetch;
  #asked: URL | undefined;
  #client: Connection | undefined;
  #authorizations = 0;
  readonly #openedUrls: string[] = [];
  #tokens: Tokens;

  constructor(url: string, options: ClientWithUserOptions = {}) {
    const { browser = new BrowserJar(), loginAt = () => 'alice' } = options;
    const { mode = 'auto', patience = 3, opensUrls = false } = options;
    this.browser = browser;
    this.#url = new URL(url);
    this.#options = { loginAt, mode, patience, opensUrls };
    this.#provider = this.#createProvider();
    const { address } = options;
    const local = address === undefined ? localhostFetch : localhostFetchFrom(address);
    this.#fetch = options.fetch ?? local;
  }

  /** How often the client sent its user to the authorization server. */
  get authorizations(): number {
    return this.#authorizations;
  }

  /** The URLs that the client opened for its user, except those of authorization. */
  get openedUrls(): readonly string[] {
    return this.#openedUrls;
  }

  /** The access token that the client has now. */
  get accessToken(): string {
    return this.#tokens?.access_token ?? '';
  }

  async listTools(): Promise<readonly string[]> {
    const { tools } = await this.#run((client) => client.listTools());
    return tools.map(({ name }) => name);
  }

  /** Returns the text of a tool's result. */
  async callTool(name: string): Promise<string> {
    const { content } = await this.#run((client) => client.callTool({ name, arguments: {} }));
    return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client?.close();
  }

  async #run<Result>(operation: (client: Connection) => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        this.#client ??= await this.#connect();
        return await operation(this.#client);
      } catch (error) {
        await this.#doAsAsked(error);
      }
    }
  }

  /** Throws the error if the client asks nothing of its user. */
  async #doAsAsked(error: unknown): Promise<void> {
    if (error instanceof UrlElicitationRequiredError || error instanceof ClassicUrlError) {
      for (const { url } of error.elicitations) await this.#openUrl(url);
      return;
    }
    const asked = this.#takeAsked();
    if (asked === undefined) throw error;
    await this.#authorize(asked, error);
  }

  #takeAsked(): URL | undefined {
    const asked = this.#asked;
    this.#asked = undefined;
    return asked;
  }

  async #connect(): Promise<Connection> {
    const { mode, opensUrls } = this.#options;
    const capabilities = opensUrls ? { elicitation: { url: {} } } : {};
    if (mode === 'classic') {
      const classic = new ClassicClient(INFO, { capabilities });
      await classic.connect(this.#createClassicTransport());
      // The types of its results are wider.
      return classic as unknown as Connection;
    }
    const client = new Client(INFO, { capabilities, versionNegotiation: { mode } });
    if (opensUrls) {
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        await this.#openUrl('url' in params ? params.url : '');
        return { action: 'accept' };
      });
    }
    await client.connect(this.#createTransport());
    return client;
  }

  async #openUrl(url: string): Promise<void> {
    const { loginAt, patience } = this.#options;
    if (this.#openedUrls.length === patience) throw new Error('the user gave up');
    this.#openedUrls.push(url);
    await walkThroughForms(this.browser, url, { loginAt });
  }

  #createClassicTransport(): ClassicTransport {
    // What one generation saves, it gets back itself.
    const authProvider = this.#provider as never;
    return new ClassicTransport(this.#url, { authProvider, fetch: this.#fetch });
  }

  #createTransport(): StreamableHTTPClientTransport {
    const options = { authProvider: this.#provider, fetch: this.#fetch };
    return new StreamableHTTPClientTransport(this.#url, options);
  }

  /** The user follows the URL that the client opened for them, up to the redirect to the client. */
  async #authorize(asked: URL, cause: unknown): Promise<void> {
    const { loginAt, patience, mode } = this.#options;
    if (this.#authorizations === patience) throw new Error('the user gave up', { cause });
    this.#authorizations += 1;
    const stopAt = (url: string): boolean => url.startsWith(REDIRECT_URI);
    const page = await walkThroughForms(this.browser, asked.href, { loginAt, stopAt });
    const { location = '' } = page.headers;
    if (!stopAt(location)) throw new Error(`not sent to the client: ${page.url} ${page.body}`);
    const { searchParams } = new URL(location);
    if (mode !== 'classic') await this.#createTransport().finishAuth(searchParams);
    else await this.#createClassicTransport().finishAuth(searchParams.get('code') ?? '');
  }

  #createProvider(): OAuthClientProvider {
    let clientInformation: ClientInformation;
    let verifier = '';
    let discovery: Discovery;
    return {
      redirectUrl: REDIRECT_URI,
      clientMetadata: {
        client_name: 'Test client',
        redirect_uris: [REDIRECT_URI],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
      clientInformation: () => clientInformation,
      saveClientInformation: (saved) => void (clientInformation = saved),
      tokens: () => this.#tokens,
      saveTokens: (saved) => void (this.#tokens = saved),
      redirectToAuthorization: (url) => void (this.#asked = url),
      saveCodeVerifier: (saved) => void (verifier = saved),
      codeVerifier: () => verifier,
      saveDiscoveryState: (saved) => void (discovery = saved),
      discoveryState: () => discovery,
      invalidateCredentials: (scope) => {
        if (scope === 'all' || scope === 'client') clientInformation = undefined;
        if (scope === 'all' || scope === 'tokens') this.#tokens = undefined;
        if (scope === 'all' || scope === 'discovery') discovery = undefined;
      },
    };
  }
}
