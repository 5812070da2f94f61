import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { createGuardedFetch } from '../../../proxy/outbound/guarded-fetch.ts';
import { knowsClient } from '../../../proxy/upstream-oauth/protocol/knows-client.ts';
import { MemoryUpstreamRegistrationStore } from '../../../proxy/store/memory/memory-upstream-registration-store.ts';
import type { UpstreamAuthOutcome } from '../../../proxy/upstream-oauth/upstream-auth-reports.ts';
import {
  UpstreamAuthorizations,
  type ConnectionContext,
  type RecordedIssuer,
} from '../../../proxy/upstream-oauth/upstream-authorizations.ts';
import type { UpstreamAuthorization } from '../../../proxy/upstream-oauth/upstream-authorization.ts';
import { originOf } from '../../../shared/snapshot/origin.ts';
import type { CompiledUpstreamOAuth } from '../../../shared/snapshot/compiled-upstream-oauth.ts';
import type { CompiledRoute, CompiledSettings } from '../../../shared/snapshot/snapshot.ts';
import { compiledSettings } from '../compiled-settings.ts';
import { startHttpsServer } from '../https-server.ts';
import { recordingLogger, type LogRecord } from '../recording-logger.ts';

/** Host names of the site, which all resolve to loopback. `evil.test` is on no allowed domain. */
const HOSTS = ['mcp.example', 'login.example', 'other.example', 'evil.test'] as const;

type Host = (typeof HOSTS)[number];

/** A request to the site, with its body. */
export interface SiteRequest {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** What is at a URL: JSON, or a function that responds. */
export type SitePage = object | ((request: SiteRequest, response: ServerResponse) => void);

/** Servers of an upstream and its authorization servers with real TLS, and discovery for a route to them. */
export interface UpstreamSite extends AsyncDisposable {
  /** Pages by `host/path`; those of a working upstream at the beginning. */
  readonly pages: Map<string, SitePage>;
  /** `METHOD host/path` of all requests so far. */
  readonly requests: readonly string[];
  /** Bodies of all requests to the registration endpoint so far. */
  readonly registrations: readonly unknown[];
  readonly log: readonly LogRecord[];
  readonly reports: readonly UpstreamAuthOutcome[];
  /** Milliseconds since the epoch; stands still. */
  now: number;
  settings: CompiledSettings;
  /** Settings of the route; nothing is given at the beginning. */
  oauth: CompiledUpstreamOAuth;
  /** Changes members of the JSON at a place. */
  change(place: string, changes: object): void;
  /** Moves what is at a place to another one. */
  move(from: string, to: string): void;
  /** Returns a URL of the site. */
  url(host: Host, path?: string): string;
  /** Metadata of the authorization server `login.example`, with changes. */
  serverMetadata(changes?: object): object;
  discover(context?: ConnectionContext): Promise<UpstreamAuthorization>;
  forIssuer(recorded: RecordedIssuer): ReturnType<UpstreamAuthorizations['forIssuer']>;
  /** What `discover` uses. */
  readonly authorizations: UpstreamAuthorizations;
}

const ORIGIN = originOf({ scheme: 'https', host: 'tickets.gateway.test', port: 443 });

/** Where the metadata of the upstream are. */
export const RESOURCE_METADATA = 'mcp.example/.well-known/oauth-protected-resource/tools/mcp';
/** Where the metadata of the authorization server are. */
export const SERVER_METADATA = 'login.example/.well-known/oauth-authorization-server';

/** Where the gateway's callback is. */
export const CALLBACK = `${ORIGIN}/.gateway/mcp/client/oauth/callback`;
/** The gateway's client ID metadata document. */
export const DOCUMENT = `${ORIGIN}/.gateway/mcp/client/metadata.json`;

/** Starts the site: the MCP endpoint is `mcp.example/tools/mcp`, the authorization server `login.example`. */
export async function startUpstreamSite(): Promise<UpstreamSite> {
  const pages = new Map<string, SitePage>();
  const requests: string[] = [];
  const registrations: unknown[] = [];
  const reports: UpstreamAuthOutcome[] = [];
  const logger = recordingLogger();
  const server = await startHttpsServer(HOSTS, (message, response) => {
    void serve(message, response);
  });

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const host = message.headers.host?.replace(/:\d+$/, '') ?? '';
    const place = host + (message.url ?? '');
    const { method = '', headers } = message;
    requests.push(`${method} ${place}`);
    const page = pages.get(place);
    const body = await text(message);
    if (page === undefined) response.writeHead(404).end('nothing');
    else if (typeof page === 'function') page({ method, headers, body }, response);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
  }

  const guardedFetch = createGuardedFetch({
    devAllowLoopback: false,
    ca: server.ca,
    lookup: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]),
  });
  const now = (): number => site.now;
  const authorizations = new UpstreamAuthorizations({
    knowsClient,
    guardedFetch,
    registrations: new MemoryUpstreamRegistrationStore(now),
    devAllowLoopback: false,
    reports: { report: (_route, outcome) => void reports.push(outcome) },
    logger,
    now,
  });

  const site: UpstreamSite = {
    pages,
    requests,
    registrations,
    reports,
    authorizations,
    log: logger.records,
    now: Date.UTC(2026, 0, 1),
    settings: compiledSettings({
      allowedAsMetadataDomains: ['*.example', 'mcp.example', 'login.example'],
      outboundAllowedCidrs: ['127.0.0.0/8'],
    }),
    oauth: { routeId: 'uid', authorizationParams: {}, sendsResource: true },
    change(place, changes) {
      const page = pages.get(place);
      if (typeof page !== 'object') throw new Error(`there is no JSON at ${place}`);
      pages.set(place, { ...page, ...changes });
    },
    move(from, to) {
      const page = pages.get(from);
      if (page === undefined) throw new Error(`there is nothing at ${from}`);
      pages.delete(from);
      pages.set(to, page);
    },
    url: (host, path = '') => server.url(host, path),
    serverMetadata: (changes = {}) => ({
      issuer: site.url('login.example'),
      authorization_endpoint: site.url('login.example', '/authorize'),
      token_endpoint: site.url('login.example', '/token'),
      registration_endpoint: site.url('login.example', '/register'),
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      ...changes,
    }),
    discover: (context) => authorizations.forConnection(route(), ORIGIN, site, context),
    forIssuer: (recorded) => authorizations.forIssuer(route(), ORIGIN, site, recorded),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };

  function route(): CompiledRoute {
    return {
      kind: 'route',
      name: 'team/tickets',
      scheme: 'https',
      host: 'tickets.gateway.test',
      port: 443,
      path: { kind: 'prefix', value: '' },
      upstream: site.url('mcp.example', '/tools'),
      access: { kind: 'public' },
      mcpServer: { path: '/mcp', maxRequestBytes: 4096, upstreamOAuth: site.oauth },
      allowWebsockets: false,
      responseTimeoutMs: 0,
    };
  }

  pages.set(RESOURCE_METADATA, {
    resource: site.url('mcp.example', '/tools/mcp'),
    authorization_servers: [site.url('login.example')],
    scopes_supported: ['read', 'write'],
  });
  pages.set(SERVER_METADATA, site.serverMetadata());
  pages.set('login.example/register', ({ body }, response) => {
    const metadata = JSON.parse(body) as object;
    registrations.push(metadata);
    const id = `registered-${String(registrations.length)}`;
    const secret = { client_secret: `secret of ${id}`, client_secret_expires_at: 0 };
    response.writeHead(201, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...metadata, client_id: id, ...secret }));
  });
  return site;
}

/** A page that answers with this status, and fields. */
export function status(code: number, headers: Readonly<Record<string, string>> = {}): SitePage {
  return (_request, response) => {
    response.writeHead(code, headers).end('secret-of-the-body');
  };
}
