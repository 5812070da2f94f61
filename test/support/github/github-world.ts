import type { ProcessTracing } from '../../../shared/telemetry/tracing/settings/process-tracing.ts';
import { startGateway, type TestGateway } from '../gateway.ts';
import { emptyResult } from '../mcp-route.ts';
import { startUpstream, type ReceivedRequest } from '../upstream.ts';
import { startGithub, type TestGithub } from './github.ts';
import type { GithubState } from './github-state.ts';

const HOUR = 3_600_000;

/** How long a session lives by default. */
const SESSION = 14 * HOUR;

/** A gateway whose users sign in with a fake GitHub, with a web route and an MCP route. */
export interface GithubWorld extends AsyncDisposable {
  readonly github: TestGithub;
  readonly gateway: TestGateway;
  readonly app: string;
  readonly mcp: string;
  /** The last request that reached the upstream of both routes. */
  lastRequest(): ReceivedRequest | undefined;
  /** Serves the web route with this policy, and with this client secret of GitHub. */
  serve(changes?: { readonly allow?: object; readonly clientSecret?: string }): Promise<void>;
  /** Moves the clock of gateway and stores to the end of every session. */
  expireSessions(): void;
}

/** Starts one that serves every user. */
export async function startGithubWorld(
  kind?: GithubState['kind'],
  options: { readonly tracing?: ProcessTracing } = {},
): Promise<GithubWorld> {
  let offset = 0;
  await using opening = new AsyncDisposableStack();
  const gateway = opening.use(await startGateway({ now: () => Date.now() + offset, ...options }));
  const github = opening.use(await startGithub(kind));
  const upstream = opening.use(await startUpstream(emptyResult));
  const originOf = (name: string): string => `http://${name}.localhost:${String(gateway.port)}`;
  const [app, mcp, authenticate] = [originOf('app'), originOf('mcp'), originOf('auth')];
  github.callbackUrl = `${authenticate}/.gateway/callback/github`;
  const world: GithubWorld = {
    ...{ github, gateway, app, mcp },
    lastRequest: () => upstream.requests.at(-1),
    expireSessions: () => void (offset += SESSION),
    async serve({
      allow = { and: [{ authenticated_user: true }] },
      clientSecret = github.clientSecret,
    } = {}) {
      const { webUrl: issuerUrl, clientId } = github;
      const to = upstream.origin;
      const provider = { name: 'github', type: 'github', issuerUrl, clientId };
      const clientSecretRef = { name: 'github', key: 'client-secret' };
      const documents = [
        resource('Route', 'app', { from: app, to, policy: { allow } }),
        resource('Route', 'mcp', {
          ...{ from: mcp, to, mcp: { server: {} } },
          allowAnyAuthenticatedUser: true,
        }),
        resource('GatewaySettings', 'gatehouse', {
          authenticateUrl: authenticate,
          identityProviders: [{ ...provider, clientSecretRef }],
        }),
        {
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'github', labels: { 'gatehouse.dev/referable': 'true' } },
          stringData: { 'client-secret': clientSecret },
        },
      ];
      await gateway.apply(documents.map((document) => JSON.stringify(document)).join('\n---\n'));
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
  await world.serve();
  const opened = opening.move();
  return world;
}

function resource(kind: string, name: string, spec: object): object {
  return { apiVersion: 'gatehouse.dev/v1alpha1', kind, metadata: { name }, spec };
}
