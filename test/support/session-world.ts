import { Sealer } from '../../proxy/crypto/sealer.ts';
import { RefreshTokens } from '../../proxy/authorization-server/grants/refresh-tokens.ts';
import type { Stores } from '../../proxy/store/stores.ts';
import type { ProcessTracing } from '../../shared/telemetry/tracing/settings/process-tracing.ts';
import type { VersionedSignIn } from '../../proxy/store/sign-in-store.ts';
import { startGatewayWithUsers, type GatewayWithUsers } from './gateway-with-users.ts';
import { membersOf, send, type Answer } from './http-client.ts';
import type { IdentityProviderOptions, TestIdentityProvider } from './identity-provider.ts';
import { emptyResult } from './mcp-route.ts';
import { callMcp, type SignedInClient } from './signed-in-client.ts';
import { startUpstream } from './upstream.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;

/** Default lifetime of sessions. */
const SESSION = 14 * HOUR;

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

type Configure = GatewayWithUsers['configure'];
type Access = Partial<Parameters<Configure>[0][string]>;

/** An MCP route whose users' sessions a test lets expire. */
export interface SessionWorld extends AsyncDisposable {
  /** The MCP URL. */
  readonly url: string;
  readonly gateway: GatewayWithUsers['gateway'];
  readonly stores: Stores;
  readonly identityProvider: TestIdentityProvider;
  readonly startPeer: GatewayWithUsers['startPeer'];
  /** Serves the route with this access, or for every user, from now on. */
  serve(access?: Access, settings?: Parameters<Configure>[1]): Promise<void>;
  /** Moves the clock of gateway and stores, but not the identity provider's. */
  advance(milliseconds: number): void;
  /** Moves the clock to the end of every session that has the default lifetime. */
  expireSessions(): void;
  /** Counts the requests to the provider's token endpoint while a function runs. */
  tokenRequestsDuring(run: () => Promise<unknown>): Promise<number>;
  /** Returns the status of a call of the MCP server with a token. */
  statusWith(accessToken: string): Promise<number>;
}

/** Starts a world whose provider rotates refresh tokens, unless the options differ. */
export async function startSessionWorld(
  options: IdentityProviderOptions = {},
  tracing?: ProcessTracing,
): Promise<SessionWorld> {
  let offset = 0;
  const upstream = await startUpstream(emptyResult);
  const world = await startGatewayWithUsers(
    { now: () => Date.now() + offset, ...(tracing && { tracing }) },
    { refreshTokens: 'rotated', ...options },
  );
  const { gateway, identityProvider } = world;
  const url = world.originOf('mcp');
  const serve: SessionWorld['serve'] = (access = { allowAnyAuthenticatedUser: true }, settings) => {
    const route = { from: url, to: upstream.origin, mcp: { server: {} }, ...access };
    return world.configure({ mcp: route }, settings);
  };
  await serve();
  return {
    ...{ url, gateway, identityProvider, serve },
    stores: gateway.stores,
    startPeer: (stores) => world.startPeer(stores),
    advance: (milliseconds) => void (offset += milliseconds),
    expireSessions: () => void (offset += SESSION),
    async tokenRequestsDuring(run) {
      const before = identityProvider.tokenRequests();
      await run();
      return identityProvider.tokenRequests() - before;
    },
    statusWith: async (accessToken) => (await callMcp(url, accessToken, PING)).status,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Refreshes a client's tokens, with the refresh token of its sign-in or a later one. */
export function refresh(
  { server, clientId, refreshToken }: SignedInClient,
  {
    token = refreshToken,
    port,
    parameters = {},
  }: {
    readonly token?: string;
    /** Port of a gateway other than the client's. */
    readonly port?: number;
    readonly parameters?: Readonly<Record<string, string>>;
  } = {},
): Promise<Answer> {
  const url = new URL(server.tokenEndpoint);
  const { host } = url;
  if (port !== undefined) url.port = String(port);
  const form = { grant_type: 'refresh_token', client_id: clientId, refresh_token: token };
  return send(url.href, {
    method: 'POST',
    headers: { host, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ ...form, ...parameters }).toString(),
  });
}

/** Returns the tokens in a response, which must have some. */
export function tokensIn(answer: Answer): {
  readonly accessToken: string;
  readonly refreshToken: string;
} {
  const { access_token: accessToken, refresh_token: refreshToken } = membersOf(answer);
  if (typeof accessToken === 'string' && typeof refreshToken === 'string') {
    return { accessToken, refreshToken };
  }
  throw new Error(`${String(answer.status)} instead of tokens: ${answer.body}`);
}

/** Returns status and OAuth error code of a response. */
export function errorIn(answer: Answer): { readonly status: number; readonly error: unknown } {
  return { status: answer.status, error: membersOf(answer)['error'] };
}

/** Returns the sign-in of a client's tokens. */
export async function signInOf(
  { refreshToken }: SignedInClient,
  { gateway, stores: { grants, signIns } }: Pick<SessionWorld, 'gateway' | 'stores'>,
): Promise<VersionedSignIn> {
  const token = new RefreshTokens(new Sealer(gateway.sealingKeys)).open(refreshToken);
  const grant = token && (await grants.get(token.grantId));
  const signIn = grant && (await signIns.get(grant.signInId));
  if (signIn === null) throw new Error('the sign-in of the client has ended');
  return signIn;
}
