import { once } from 'node:events';
import { connect } from 'node:tls';

import type { GatewaySettings } from '../../../crds/types.ts';
import { BrowserJar } from '../browser-jar.ts';
import { ClientWithUser } from '../client-with-user.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../identity-provider.ts';
import { eventually } from '../eventually.ts';
import { createThrowawayAuthority, type ThrowawayAuthority } from '../throwaway-authority.ts';
import { startTlsEdge } from '../tls-edge.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import { applyObjects } from './kubectl.ts';
import { LiveSession } from './live-session.ts';
import {
  authorityObject,
  CERTIFICATE,
  certificateObject,
  CLIENT_SECRET,
  exampleHost,
  RELEASE_NAMESPACE,
  restrictedNamespace,
  routeObject,
  ROUTES_NAMESPACE,
  secretObject,
  serviceObjects,
  settingsObject,
} from './node-manifests.ts';
import { BALANCER_IP, nameHosts, NODE_IP } from './node-names.ts';
import { startResumableMcpServer, type ResumableMcpServer } from './resumable-mcp-server.ts';
import { helloAfter, ordinaryClients } from './ordinary-clients.ts';
import { Traffic } from './traffic.ts';
import { trustingFetch } from './trusting-fetch.ts';

const PROVIDER_HOST = 'login.example.test';
const MCP_HOST = exampleHost('mcp');
/** Hosts whose Routes users sign in for. */
const SIGN_IN_HOSTS = [MCP_HOST, exampleHost('tools')];
const WEB_HOST = exampleHost('web');
const PUBLIC = { allowPublicUnauthenticatedAccess: true };
const HTTPS_PORT = 443;
/** Requests that reach every one of a few proxies almost surely. */
const LOOKS = 12;
/** A busy node may have to start proxies meanwhile. */
const DEADLINE_MS = 120_000;

/** What a release in a real cluster needs around it: identity provider, upstreams, names, certificates and clients. */
export class NodeWorld implements AsyncDisposable {
  readonly authority: ThrowawayAuthority;
  readonly provider: TestIdentityProvider;
  readonly mcpServer: ResumableMcpServer;
  readonly #web: Upstream;
  readonly #opened: AsyncDisposableStack;
  readonly #http2: boolean;

  private constructor(
    parts: Readonly<Record<'opened', AsyncDisposableStack>> &
      Pick<NodeWorld, 'authority' | 'provider' | 'mcpServer'> & {
        readonly web: Upstream;
        readonly http2: boolean;
      },
  ) {
    this.#http2 = parts.http2;
    this.authority = parts.authority;
    this.provider = parts.provider;
    this.mcpServer = parts.mcpServer;
    this.#web = parts.web;
    this.#opened = parts.opened;
  }

  /** Sessions and traffic speak HTTP/1.1, or HTTP/2 with `http2`. */
  static async open({ http2 = false } = {}): Promise<NodeWorld> {
    await using opening = new AsyncDisposableStack();
    const authority = createThrowawayAuthority();
    const edge = opening.use(
      await startTlsEdge([PROVIDER_HOST], { address: NODE_IP, port: HTTPS_PORT, authority }),
    );
    const provider = opening.use(
      await startIdentityProvider({
        origin: edge.originOf(PROVIDER_HOST),
        redirectUris: SIGN_IN_HOSTS.map((host) => `https://${host}/.gateway/callback`),
      }),
    );
    edge.pass(PROVIDER_HOST, provider.port);
    const mcpServer = opening.use(await startResumableMcpServer('notes', NODE_IP));
    const web = opening.use(
      await startUpstream((message, response) => {
        message.resume();
        setTimeout(() => response.end('hello'), helloAfter(message.url));
      }, NODE_IP),
    );
    await nameHosts(NODE_IP, [PROVIDER_HOST]);
    await nameHosts(BALANCER_IP, [MCP_HOST, WEB_HOST]);
    return new NodeWorld({ http2, authority, provider, mcpServer, web, opened: opening.move() });
  }

  /** Creates the namespaces, where no pod may have more rights than it needs. */
  async createNamespaces(): Promise<void> {
    await applyObjects(
      restrictedNamespace(RELEASE_NAMESPACE),
      restrictedNamespace(ROUTES_NAMESPACE),
    );
  }

  /** Creates the settings, and what they refer to. */
  async applySettings(): Promise<void> {
    const { clientId, clientSecret, issuer: issuerUrl } = this.provider;
    const spec: GatewaySettings['spec'] = {
      identityProviders: [
        {
          ...{ name: 'test', issuerUrl, clientId },
          clientSecretRef: { name: CLIENT_SECRET, key: 'client-secret' },
          caRef: { name: 'identity-provider-ca' },
        },
      ],
      // The provider and the upstreams are on the node, and not in the Internet.
      outboundAllowedCidrs: [`${NODE_IP}/32`],
      // For the Route of `helm test`, which names no certificate.
      defaultCertificateRef: { name: CERTIFICATE },
    };
    await applyObjects(
      authorityObject('identity-provider-ca', this.authority.ca),
      certificateObject(RELEASE_NAMESPACE, CERTIFICATE, this.authority.issue([exampleHost('*')])),
      secretObject(RELEASE_NAMESPACE, CLIENT_SECRET, { 'client-secret': clientSecret }),
      settingsObject(spec),
    );
  }

  /** Creates the Routes with their Services and their certificate. */
  async applyRoutes(): Promise<void> {
    await this.applyCertificate();
    await applyObjects(
      ...serviceObjects('mcp', this.mcpServer.port),
      ...serviceObjects('web', this.#web.port),
      routeObject('mcp', 'mcp', {
        mcp: { server: { path: '/mcp' } },
        policy: { allow: { and: [{ email: 'alice@example.com' }] } },
      }),
      routeObject('web', 'web', PUBLIC),
    );
  }

  /** Creates or replaces the certificate of all Routes. */
  async applyCertificate(): Promise<void> {
    const issued = this.authority.issue([exampleHost('*')]);
    await applyObjects(certificateObject(ROUTES_NAMESPACE, CERTIFICATE, issued));
  }

  /** Creates another public Route, with a Service of its name, and waits until it serves. */
  async applyLateRoute(name: string): Promise<void> {
    await nameHosts(BALANCER_IP, [exampleHost(name)]);
    await applyObjects(...serviceObjects(name, this.#web.port), routeObject(name, name, PUBLIC));
    await this.untilServed(name);
  }

  /** Waits until every proxy answers for a public Route. */
  async untilServed(name = 'web'): Promise<void> {
    await this.#everyProxy(`${name} is served`, 200, async () => await this.statusOf(name));
  }

  /** Returns the status of a public Route; undefined if nothing answers. */
  async statusOf(name = 'web'): Promise<number | undefined> {
    return await this.#statusAt(`https://${exampleHost(name)}`);
  }

  /**
   * Waits until every proxy has this status for requests with a token, which say nothing: 400 if the token opens its
   * route, and 401 if not.
   */
  async untilCallsHave(status: 400 | 401, token: string, host = MCP_HOST): Promise<void> {
    await this.#everyProxy(`calls have status ${String(status)}`, status, async () => {
      return await this.#statusAt(`https://${host}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{}',
      });
    });
  }

  /** Returns the fingerprint of the certificate that a proxy presents. */
  async presentedCertificate(): Promise<string> {
    const { ca } = this.authority;
    const socket = connect({ host: BALANCER_IP, port: HTTPS_PORT, servername: WEB_HOST, ca });
    try {
      await once(socket, 'secureConnect');
      return socket.getPeerCertificate().fingerprint256;
    } finally {
      socket.destroy();
    }
  }

  /** A client on the official SDK, with its user and her browser; by default for the Route of `applyRoutes`. */
  openClient(host = MCP_HOST): ClientWithUser {
    const { ca } = this.authority;
    return new ClientWithUser(`https://${host}`, {
      browser: new BrowserJar({ ca }),
      fetch: trustingFetch(ca),
    });
  }

  /** Begins an MCP session with a token, on connections of its own. */
  async beginSession(token: string): Promise<LiveSession> {
    const fetch = trustingFetch(this.authority.ca, { http2: this.#http2 });
    return await LiveSession.begin({ url: `https://${MCP_HOST}`, token, fetch });
  }

  /** Starts the clients of the public Route, and tool calls in these sessions. */
  startTraffic(...sessions: readonly LiveSession[]): Traffic {
    const newFetch = ({ keep }: { readonly keep: boolean }): typeof fetch =>
      trustingFetch(this.authority.ca, { keep, http2: this.#http2 });
    return new Traffic(ordinaryClients({ url: `https://${WEB_HOST}`, newFetch, sessions }));
  }

  async #everyProxy(
    what: string,
    status: number,
    look: () => Promise<number | undefined>,
  ): Promise<void> {
    await eventually(
      `at every proxy, ${what}`,
      async () => {
        // Each request is on a connection of its own, and so at any of the proxies.
        const statuses = await Promise.all(Array.from({ length: LOOKS }, look));
        return statuses.every((found) => found === status);
      },
      DEADLINE_MS,
    );
  }

  async #statusAt(url: string, init: RequestInit = {}): Promise<number | undefined> {
    try {
      const response = await trustingFetch(this.authority.ca, { keep: false })(url, init);
      await response.text();
      return response.status;
    } catch {
      return undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }
}
