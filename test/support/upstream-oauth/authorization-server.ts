import type { RequestListener } from 'node:http';

import type { KoaContextWithOIDC } from 'oidc-provider';

import { loadOidcProvider } from '../../../cli/demo/identity-provider/load-oidc-provider.ts';
import { signInAtProvider } from '../provider-sign-in.ts';
import { startUpstream } from '../upstream.ts';
import {
  authorizationServerConfiguration,
  GIVEN_CLIENT,
  INTERACTION,
  type AuthorizationServerFeatures,
} from './authorization-server-configuration.ts';
import { ForgettingAdapter } from './forgetting-adapter.ts';

type Members = Readonly<Record<string, unknown>>;

/** Endpoints, by what they are for. */
const ENDPOINTS = {
  metadata: '/.well-known/oauth-authorization-server',
  authorization: '/auth',
  token: '/token',
  registration: '/reg',
  revocation: '/token/revocation',
} as const;

/** The metadata are at two paths below it (RFC 8414, section 5). */
const WELL_KNOWN = '/.well-known/';

type Endpoint = keyof typeof ENDPOINTS;

/** What an access token stands for. */
export interface TokenFacts {
  /** Login name of the user. */
  readonly subject: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  /** The resource that it was issued for (RFC 8707). */
  readonly audience?: string;
}

/** A real authorization server of an upstream, on loopback, whose users have no passwords. */
export interface UpstreamAuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  readonly port: number;
  /** The client that is registered by hand, at `redirectUris`. */
  readonly givenClient: typeof GIVEN_CLIENT;
  readonly redirectUris: Set<string>;
  /** Parameters of every authorization request so far. */
  readonly authorizationRequests: readonly URLSearchParams[];
  /** Parameters of every token request so far. */
  readonly tokenRequests: readonly Members[];
  /** Returns how often an endpoint was requested. */
  hits(endpoint: Endpoint): number;
  /** Serves an endpoint in place of the server, from now on; undefined ends that. */
  replace(endpoint: Endpoint, listener: RequestListener | undefined): void;
  /** Holds requests to an endpoint until the returned function is called. */
  hold(endpoint: Endpoint): () => void;
  /** Changes the metadata before they are sent. */
  changeMetadata: (metadata: Members) => Members;
  /** Changes a token response before it is sent. */
  changeTokens: (response: Members) => Members;
  /** Returns what a token stands for; null if it is not valid. */
  verify: (accessToken: string) => Promise<TokenFacts | null>;
  /** Loses all records of a kind. */
  forget(kind: 'Client' | 'AccessToken' | 'RefreshToken'): Promise<void>;
}

/** Starts a server. */
export async function startUpstreamAuthorizationServer(
  features: AuthorizationServerFeatures = {},
): Promise<UpstreamAuthorizationServer> {
  let serve: RequestListener = () => undefined;
  const server = await startUpstream((request, response) => serve(request, response));
  const issuer = features.origin ?? `http://localhost:${String(server.port)}`;
  const adapters = new Map<string, ForgettingAdapter>();
  const redirectUris = new Set<string>();
  const authorizationRequests: URLSearchParams[] = [];
  const tokenRequests: Members[] = [];
  const replaced = new Map<string, RequestListener>();
  const held = new Map<string, Promise<void>>();
  const hits = new Map<string, number>();

  const { Provider, errors } = await loadOidcProvider();
  const adapter = (name: string): ForgettingAdapter => {
    const made = new ForgettingAdapter();
    adapters.set(name, made);
    return made;
  };
  const provider = new Provider(
    issuer,
    await authorizationServerConfiguration(server.port, features, {
      adapter,
      InvalidTarget: errors.InvalidTarget,
    }),
  );
  provider.proxy = features.origin !== undefined;
  const given = await provider.Client.find(GIVEN_CLIENT.id);
  if (given === undefined) throw new Error('the server knows the given client');
  given.redirectUriAllowed = (uri) => redirectUris.has(uri);

  provider.use(async (context, next) => {
    await next();
    // The provider adds this member to the contexts of its own endpoints.
    const { body: form } = (context as unknown as KoaContextWithOIDC).oidc;
    if (context.path === ENDPOINTS.token) tokenRequests.push({ ...form });
    if (context.status !== 200) return;
    // The provider's own responses have an object as the body.
    const body = context.body as Members;
    if (context.path === ENDPOINTS.token) context.body = provided.changeTokens(body);
    if (context.path.startsWith(WELL_KNOWN)) context.body = provided.changeMetadata(body);
  });

  const protocol = provider.callback();
  serve = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', issuer);
    hits.set(pathname, (hits.get(pathname) ?? 0) + 1);
    if (pathname === ENDPOINTS.authorization) authorizationRequests.push(searchParams);
    const answer = async (): Promise<void> => {
      await held.get(pathname);
      const replacement = replaced.get(pathname);
      if (replacement !== undefined) replacement(request, response);
      else if (pathname.startsWith(INTERACTION)) {
        await signInAtProvider(provider, request, response);
      } else await protocol(request, response);
    };
    answer().catch((error: unknown) => {
      response.writeHead(400).end(String(error));
    });
  };

  const provided: UpstreamAuthorizationServer = {
    issuer,
    port: server.port,
    givenClient: GIVEN_CLIENT,
    redirectUris,
    authorizationRequests,
    tokenRequests,
    hits: (endpoint) => hits.get(ENDPOINTS[endpoint]) ?? 0,
    replace: (endpoint, listener) => {
      if (listener === undefined) replaced.delete(ENDPOINTS[endpoint]);
      else replaced.set(ENDPOINTS[endpoint], listener);
    },
    hold: (endpoint) => {
      const { promise, resolve } = Promise.withResolvers<undefined>();
      held.set(
        ENDPOINTS[endpoint],
        promise.then(() => undefined),
      );
      return () => {
        held.delete(ENDPOINTS[endpoint]);
        resolve(undefined);
      };
    },
    changeMetadata: (metadata) => metadata,
    changeTokens: (response) => response,
    verify: async (accessToken) => {
      const token = await provider.AccessToken.find(accessToken);
      if (token === undefined) return null;
      const { accountId, clientId = '', scope = '', aud } = token;
      return {
        subject: accountId,
        clientId,
        scopes: scope.split(' ').filter((each) => each !== ''),
        ...(typeof aud === 'string' && { audience: aud }),
      };
    },
    forget: async (kind) => adapters.get(kind)?.forgetAll(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return provided;
}
