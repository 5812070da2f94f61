import { stringify } from 'yaml';

import type { Route } from '../../../crds/types.ts';
import { routeKey, SETTINGS_KEY } from '../../../shared/snapshot/resource-key.ts';
import { BrowserJar, type BrowserPage } from '../browser-jar.ts';
import { eventually } from '../eventually.ts';
import type { Answer } from '../http-client.ts';
import { mcpHeaders } from '../signed-in-client.ts';
import { TemporaryDirectory } from '../temporary-directory.ts';
import { walkThroughForms } from '../walk-through-forms.ts';
import type { ClusterGateway } from './cluster-gateway.ts';
import { startClusterWorld } from './cluster-world.ts';
import type { Cluster } from './cluster.ts';
import {
  AUTHORIZATION_SERVER_HOST,
  MCP_SERVER_HOST,
  startConnectServers,
  type ConnectServers,
} from './connect-servers.ts';
import {
  hostOf,
  INSTALL_NAMESPACE,
  namespaceManifests,
  routeManifest,
  TEAM,
} from './gateway-manifests.ts';
import type { ProxyMember } from './proxy-member.ts';

type McpServerSpec = NonNullable<NonNullable<Route['spec']['mcp']>['server']>;
type UpstreamOauth2 = NonNullable<McpServerSpec['upstreamOauth2']>;

const WHOAMI = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami' } };
const SECRET_KEY = 'client-secret';
const POLICY = { allow: { and: [{ authenticated_user: true }] } } satisfies Route['spec']['policy'];

/** Starts one controller, two proxies, and the servers around them. */
export async function startConnectCluster(
  openCluster: () => Promise<Cluster>,
): Promise<ConnectCluster> {
  await using opening = new AsyncDisposableStack();
  const directory = opening.use(await TemporaryDirectory.create());
  const servers = opening.use(await startConnectServers());
  const authority = await directory.write('ca.crt', servers.edge.ca);
  const { gateway } = opening.use(
    await startClusterWorld(openCluster, {
      ...{ controllers: 1, proxies: 2 },
      controllerFlags: ['--deletion-delay', '0s'],
      proxyVariables: () => ({ NODE_EXTRA_CA_CERTS: authority }),
    }),
  );
  const [first, second] = gateway.proxies;
  if (first === undefined || second === undefined) throw new Error('there are two proxies');
  const opened = new AsyncDisposableStack();
  const cluster = new ConnectCluster({ gateway, servers, proxies: [first, second] }, opened);
  await cluster.writeSecret(INSTALL_NAMESPACE, 'provider', servers.provider.clientSecret);
  await letReadSecrets(gateway);
  await cluster.allowDomains(MCP_SERVER_HOST, AUTHORIZATION_SERVER_HOST);
  await cluster.applyApplication('app', TEAM);
  opened.use(opening.move());
  return cluster;
}

interface ConnectClusterParts {
  readonly gateway: ClusterGateway;
  readonly servers: ConnectServers;
  readonly proxies: readonly [ProxyMember, ProxyMember];
}

/**
 * Controllers and proxies as processes, whose users sign in at an identity provider, and connect an MCP server
 * that has an authorization server of its own. The application `app` is on an MCP client route. The user is
 * alice, whose account at the upstream is `up-alice`, and her browser reaches one proxy at a time.
 */
export class ConnectCluster implements AsyncDisposable {
  readonly gateway: ClusterGateway;
  readonly servers: ConnectServers;
  readonly proxies: readonly [ProxyMember, ProxyMember];
  readonly #opened: AsyncDisposable;
  readonly #browser: BrowserJar;
  readonly #names: string[] = [];
  #proxy: ProxyMember;

  constructor({ gateway, servers, proxies }: ConnectClusterParts, opened: AsyncDisposable) {
    this.gateway = gateway;
    this.servers = servers;
    this.proxies = proxies;
    this.#proxy = proxies[0];
    this.#opened = opened;
    this.#browser = new BrowserJar({ tlsPort: servers.edge.plainPort });
  }

  /** Chooses the proxy that the browser reaches; at first it is the first. */
  async useProxy(proxy: ProxyMember): Promise<void> {
    this.#proxy = proxy;
    for (const name of this.#names) await this.#leadToProxy(name);
  }

  /** Alice opens the application, which gets a token of hers. Returns the token. */
  async externalToken(): Promise<string> {
    return (await this.#visit(urlOf('app'))).body.replace('Bearer ', '');
  }

  /** Alice connects a server from the application. Returns the URL of the page where that ends. */
  async connect(name: string): Promise<string> {
    const query = new URLSearchParams({ redirect_url: `${urlOf('app')}/connected` });
    return (await this.#visit(`${urlOf(name)}/.gateway/mcp/connect?${query.toString()}`)).url;
  }

  /** Calls the tool `whoami` of a server with a token. */
  whoami(proxy: ProxyMember, name: string, token: string): Promise<Answer> {
    const [headers, body] = [mcpHeaders(token), JSON.stringify(WHOAMI)];
    return proxy.ask(hostOf(name), '/', { method: 'POST', headers, body });
  }

  /** Serves the MCP server under a name, on every proxy. */
  async applyServer(name: string, upstreamOauth2: UpstreamOauth2): Promise<void> {
    await this.#leadToProxy(name);
    await this.gateway.applyRoute(name, {
      ...{ from: urlOf(name), to: this.servers.mcpServer.origin, policy: POLICY },
      mcp: { server: { path: '/mcp', upstreamOauth2 } },
    });
    await this.#untilHas(routeKeyOf(name), () => true);
  }

  /** Creates an application on an MCP client route. In namespace `team`, it serves on every proxy then. */
  async applyApplication(name: string, namespace: string): Promise<void> {
    await this.#leadToProxy(name);
    const spec = { from: urlOf(name), policy: POLICY, mcp: { client: {} } };
    await this.gateway.admin.apply(namespaceManifests(namespace));
    const manifest = routeManifest(name, spec, this.servers.application, namespace);
    await this.gateway.admin.apply(manifest);
    if (namespace === TEAM) await this.#untilHas(routeKeyOf(name), () => true);
  }

  /** Has discovery ask these hosts and no others, at every proxy. */
  async allowDomains(...domains: readonly string[]): Promise<void> {
    const { issuer: issuerUrl, clientId } = this.servers.provider;
    const clientSecretRef = { name: 'provider', key: SECRET_KEY };
    await this.#change(SETTINGS_KEY, () =>
      this.gateway.changeSettings({
        identityProviders: [{ name: 'test', issuerUrl, clientId, clientSecretRef }],
        outboundAllowedCidrs: ['127.0.0.0/8'],
        mcpAllowedAsMetadataDomains: domains,
        mcpClientNamespaces: [TEAM],
      }),
    );
  }

  /** Serves the MCP server with the client that is registered by hand, and with this secret of it. */
  async applyServerWithSecret(name: string, secret: string): Promise<void> {
    await this.writeSecret(TEAM, 'upstream', secret);
    const { id: clientId } = this.servers.authorizationServer.givenClient;
    const clientSecretRef = { name: 'upstream', key: SECRET_KEY };
    await this.applyServer(name, { clientId, clientSecretRef });
  }

  /** Changes the secret of that client, at every proxy. */
  async changeSecret(server: string, secret: string): Promise<void> {
    await this.#change(routeKeyOf(server), () => this.writeSecret(TEAM, 'upstream', secret));
  }

  /** Creates or changes a Secret that manifests may refer to. */
  async writeSecret(namespace: string, name: string, value: string): Promise<void> {
    const labels = { 'gatehouse.dev/referable': 'true' };
    const metadata = { namespace, name, labels };
    const data = { [SECRET_KEY]: Buffer.from(value).toString('base64') };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata, data };
    await this.gateway.admin.apply(stringify(secret));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
  }

  /** Leads the browser to the chosen proxy, and lets users come back to this host. */
  async #leadToProxy(name: string): Promise<void> {
    const { edge, provider, authorizationServer } = this.servers;
    if (!this.#names.includes(name)) this.#names.push(name);
    edge.pass(hostOf(name), await this.#proxy.port());
    provider.redirectUris.add(`${urlOf(name)}/.gateway/callback`);
    authorizationServer.redirectUris.add(`${urlOf(name)}/.gateway/mcp/client/oauth/callback`);
  }

  /** Opens a URL, and does what alice is asked, up to the last page. */
  #visit(url: string): Promise<BrowserPage> {
    const { issuer } = this.servers.provider;
    const loginAt = ({ url: page }: { readonly url: string }): string =>
      page.startsWith(issuer) ? 'alice' : 'up-alice';
    return walkThroughForms(this.#browser, url, { loginAt });
  }

  /** Makes a change, and waits until every proxy has another resource under a key. */
  async #change(key: string, change: () => Promise<void>): Promise<void> {
    const before = await Promise.all(this.proxies.map((proxy) => proxy.hashOf(key)));
    await change();
    await this.#untilHas(key, (hash, index) => hash !== before[index]);
  }

  async #untilHas(key: string, isRight: (hash: string, index: number) => boolean): Promise<void> {
    await eventually(`every proxy has a right ${key}`, async () => {
      const hashes = await Promise.all(this.proxies.map((proxy) => proxy.hashOf(key)));
      return hashes.every((hash, index) => hash !== undefined && isRight(hash, index));
    });
  }
}

function urlOf(name: string): string {
  return `https://${hostOf(name)}`;
}

function routeKeyOf(name: string): string {
  return routeKey(`${TEAM}/${name}`);
}

/** Lets the controller read the Secrets that Routes of namespace `team` refer to. */
async function letReadSecrets({ admin }: ClusterGateway): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const name = 'gatehouse-controller-route-secrets';
  const subject = {
    ...{ kind: 'ServiceAccount', name: 'gatehouse-controller', namespace: INSTALL_NAMESPACE },
  };
  const binding = {
    ...{ apiVersion: `${apiGroup}/v1`, kind: 'RoleBinding', metadata: { namespace: TEAM, name } },
    ...{ roleRef: { apiGroup, kind: 'ClusterRole', name }, subjects: [subject] },
  };
  await admin.apply(stringify(binding));
}
