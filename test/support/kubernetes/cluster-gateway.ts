import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { GatewaySettings, Route } from '../../../crds/types.ts';
import { PUSH_AUDIENCE } from '../../../shared/snapshot/push-frames.ts';
import type { CommandProgram } from '../cli.ts';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { connectProbe, type ProbeOptions, type PushProbe } from '../push/push-probe.ts';
import { startTcpService, type TcpService } from '../tcp-service.ts';
import { startUpstream, type Upstream } from '../upstream.ts';
import type { AdminClient, Cluster } from './cluster.ts';
import { ControllerMember } from './controller-member.ts';
import { writeGatewayFiles, type GatewayFiles } from './gateway-files.ts';
import {
  hostOf,
  INSTALL_NAMESPACE,
  PROXY_NAMESPACE,
  namespaceManifests,
  routeManifest,
  settingsManifest,
  TEAM,
} from './gateway-manifests.ts';
import { leasesIn, routesIn } from './paths.ts';
import { ProxyMember } from './proxy-member.ts';

const RBAC = join(import.meta.dirname, '../../../controller/manifests/rbac.yaml');
const SETTINGS_PATH = `/apis/gatehouse.dev/v1alpha1/namespaces/${INSTALL_NAMESPACE}/gatewaysettings/gatehouse`;
const LEASE_PATH = `${leasesIn(INSTALL_NAMESPACE)}/gatehouse-controller`;

export interface ClusterGatewayOptions {
  readonly cluster: Cluster;
  /** Value of `--redis-url`. */
  readonly redisUrl: string;
  readonly controllers: number;
  readonly proxies: number;
  /** Further flags for every controller, such as `--deletion-delay`. */
  readonly controllerFlags?: readonly string[];
  /** Further flags for every proxy. */
  readonly proxyFlags?: readonly string[];
  /** Environments of the controllers, by their index. */
  readonly controllerVariables?: readonly Readonly<Record<string, string>>[];
  /** Returns the environment of a proxy, by its index. */
  readonly proxyVariables?: (index: number) => Readonly<Record<string, string>>;
}

/** Installs the gateway in a cluster, and starts its processes. */
export async function startClusterGateway(options: ClusterGatewayOptions): Promise<ClusterGateway> {
  await using opening = new AsyncDisposableStack();
  const { cluster } = options;
  await cluster.admin.apply(namespaceManifests(INSTALL_NAMESPACE, PROXY_NAMESPACE, TEAM));
  await cluster.admin.apply(await readFile(RBAC, 'utf8'));
  await cluster.admin.apply(settingsManifest({}));
  const files = opening.use(await writeGatewayFiles());
  const upstream = opening.use(
    await startUpstream((message, response) => response.end(`Hello from ${message.url ?? ''}`)),
  );
  const kubeconfig = await cluster.kubeconfigFor(INSTALL_NAMESPACE, 'gatehouse-controller');
  const pushPorts = await Promise.all(
    Array.from({ length: options.controllers }, async () => freePort()),
  );
  const pushService = opening.use(await startTcpService(() => pushPorts));
  const controllers = pushPorts.map((port, index) => {
    const flags = [
      ...['controller', '--kubeconfig', kubeconfig, '--namespace', INSTALL_NAMESPACE],
      ...['--push-listen', `127.0.0.1:${String(port)}`, '--push-tls-dir', files.tlsDirectory],
      ...['--proxy-service-account', `${PROXY_NAMESPACE}/gatehouse-proxy`],
      ...['--proxy-service', `${PROXY_NAMESPACE}/gatehouse-proxy`],
      ...['--admin-listen', '127.0.0.1:0', ...(options.controllerFlags ?? [])],
    ];
    return opening.use(new ControllerMember(flags, options.controllerVariables?.[index]));
  });
  const gateway = new ClusterGateway(
    { ...options, upstream, controllers, files, pushService },
    opening.move(),
  );
  for (const controller of controllers) controller.start();
  for (let count = 0; count < options.proxies; count += 1) await gateway.addProxy();
  return gateway;
}

interface GatewayParts extends Pick<
  ClusterGatewayOptions,
  'cluster' | 'redisUrl' | 'proxyFlags' | 'proxyVariables'
> {
  readonly controllers: readonly ControllerMember[];
  readonly upstream: Upstream;
  readonly files: GatewayFiles;
  readonly pushService: TcpService;
}

/**
 * Controllers and proxies as separate processes, with the rights of their ServiceAccounts, and
 * everything that they need except an API server and Redis. Controllers are in namespace `gatehouse`,
 * proxies in `gatehouse-proxy`, and routes in `team`.
 */
export class ClusterGateway implements AsyncDisposable {
  readonly #parts: GatewayParts;
  readonly #opened: AsyncDisposableStack;
  readonly #proxies: ProxyMember[] = [];
  #pods = 0;

  constructor(parts: GatewayParts, opened: AsyncDisposableStack) {
    this.#parts = parts;
    this.#opened = opened;
  }

  get admin(): AdminClient {
    return this.#parts.cluster.admin;
  }

  get controllers(): readonly ControllerMember[] {
    return this.#parts.controllers;
  }

  get proxies(): readonly ProxyMember[] {
    return this.#proxies;
  }

  /** Answers `Hello from <path>` to every request. */
  get upstream(): Upstream {
    return this.#parts.upstream;
  }

  /** Creates another proxy, and starts it. It may be another program than that of this checkout. */
  async addProxy(program?: CommandProgram): Promise<ProxyMember> {
    const { files, pushService, redisUrl, proxyFlags = [], proxyVariables } = this.#parts;
    const variables = proxyVariables?.(this.#proxies.length);
    const pod = `gatehouse-proxy-${String(this.#pods)}`;
    this.#pods += 1;
    const tokenFile = join(files.directory, pod);
    const cache = join(files.directory, `${pod}-cache`);
    await mkdir(cache);
    await writeFile(tokenFile, await this.#tokenOf(pod));
    const proxy = new ProxyMember(
      [
        ...['proxy', '--controller', `https://localhost:${String(pushService.port)}`],
        ...['--controller-ca', files.caFile, '--token-file', tokenFile, '--proxy-id', pod],
        ...['--listen', '127.0.0.1:0', '--listen-tls', '127.0.0.1:0'],
        ...['--admin-listen', '127.0.0.1:0', '--redis-url', redisUrl],
        ...['--sealing-keys-dir', files.sealingKeysDirectory, '--cache-dir', cache],
        ...['--drain-delay', '0s', ...proxyFlags],
      ],
      variables,
    );
    this.#opened.use(proxy);
    this.#proxies.push(proxy);
    proxy.start(program);
    return proxy;
  }

  /** Ends a proxy, which says goodbye to its controller, and removes it from `proxies`. */
  async dropProxy(proxy: ProxyMember): Promise<void> {
    await proxy.terminate();
    this.#proxies.splice(this.#proxies.indexOf(proxy), 1);
  }

  /** Connects a probe, which serves no requests and reports every violation, to the leader. */
  async connectProbe(id: string, options: Pick<ProbeOptions, 'answer'> = {}): Promise<PushProbe> {
    const [leader, token] = await Promise.all([this.leader(), this.#tokenOf(id)]);
    const { ca } = this.#parts.files;
    const port = await leader.pushPort();
    return connectProbe({ ...options, port, ca, id, token, serverName: 'localhost' });
  }

  /** Creates or changes a Route in namespace `team`, public and to `upstream` by default. */
  async applyRoute(name: string, spec: Partial<Route['spec']> = {}): Promise<void> {
    await this.admin.apply(routeManifest(name, spec, this.upstream));
  }

  async deleteRoute(name: string): Promise<void> {
    await this.admin.request('DELETE', `${routesIn(TEAM)}/${name}`);
  }

  async createSettings(spec: GatewaySettings['spec']): Promise<void> {
    await this.admin.apply(settingsManifest(spec));
  }

  /** Replaces the whole `spec`. */
  async changeSettings(spec: GatewaySettings['spec']): Promise<void> {
    const patch = [{ op: 'replace', path: '/spec', value: spec }];
    const headers = { 'content-type': 'application/json-patch+json' };
    await this.admin.request('PATCH', SETTINGS_PATH, patch, headers);
  }

  async deleteSettings(): Promise<void> {
    await this.admin.request('DELETE', SETTINGS_PATH);
  }

  async route(name: string, namespace = TEAM): Promise<Route> {
    // The API server sends the form that the definition has.
    return (await this.admin.request('GET', `${routesIn(namespace)}/${name}`)) as Route;
  }

  async settings(): Promise<GatewaySettings> {
    return (await this.admin.request('GET', SETTINGS_PATH)) as GatewaySettings;
  }

  /** Returns a condition of a Route as `Status/Reason`; undefined if it has none. */
  async condition(route: string, type: string): Promise<string | undefined> {
    return stateOf(await this.route(route), type);
  }

  /** Returns a condition of the settings in the same form. */
  async settingsCondition(type: string): Promise<string | undefined> {
    return stateOf(await this.settings(), type);
  }

  /** Returns the status with which each of these proxies answers for a route; 0 if it does not. */
  async statuses(
    route: string,
    proxies: readonly ProxyMember[] = this.proxies,
  ): Promise<readonly number[]> {
    return Promise.all(proxies.map((proxy) => proxy.status(hostOf(route))));
  }

  /** Waits until all of these proxies serve a route, and returns the milliseconds that this took. */
  async untilServed(
    route: string,
    {
      proxies = this.proxies,
      deadlineMs,
    }: { readonly proxies?: readonly ProxyMember[]; readonly deadlineMs?: number } = {},
  ): Promise<number> {
    const isServed = async (): Promise<boolean> =>
      (await this.statuses(route, proxies)).every((status) => status === 200);
    return this.#eventually(`${route} serves`, isServed, deadlineMs);
  }

  /** Waits until a Route has a condition, and returns the milliseconds that this took. */
  async untilCondition(
    route: string,
    type: string,
    state: string,
    deadlineMs?: number,
  ): Promise<number> {
    const isSo = async (): Promise<boolean> => (await this.condition(route, type)) === state;
    return this.#eventually(`${route} is ${type} ${state}`, isSo, deadlineMs);
  }

  async untilSettingsCondition(type: string, state: string): Promise<number> {
    const isSo = async (): Promise<boolean> => (await this.settingsCondition(type)) === state;
    return this.#eventually(`the settings are ${type} ${state}`, isSo);
  }

  /** Returns the controller that holds the Lease. */
  async leader(): Promise<ControllerMember> {
    const { holderIdentity: holder } = await this.lease();
    const leader = this.controllers.find(({ identity }) => identity === holder);
    if (leader === undefined) throw new Error(`${holder} holds the Lease, and is not a controller`);
    return leader;
  }

  /** Returns the controllers that do not hold the Lease. */
  async followers(): Promise<readonly ControllerMember[]> {
    const leader = await this.leader();
    return this.controllers.filter((controller) => controller !== leader);
  }

  async lease(): Promise<{ readonly holderIdentity: string; readonly leaseTransitions: number }> {
    const { spec } = (await this.admin.request('GET', LEASE_PATH)) as {
      readonly spec: { readonly holderIdentity: string; readonly leaseTransitions: number };
    };
    return spec;
  }

  async deleteLease(): Promise<void> {
    await this.admin.request('DELETE', LEASE_PATH);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened.disposeAsync();
  }

  /** If it does not become true, the last logs of the processes may show why. */
  async #eventually(...condition: Parameters<typeof eventually>): Promise<number> {
    try {
      return await eventually(...condition);
    } catch (error) {
      const ends = [...this.controllers, ...this.proxies].map((member) => member.lastWords);
      throw new Error([String(error), ...ends].join('\n\n'), { cause: error });
    }
  }

  async #tokenOf(pod: string): Promise<string> {
    return this.#parts.cluster.proxyToken({
      namespace: PROXY_NAMESPACE,
      serviceAccount: 'gatehouse-proxy',
      pod,
      audience: PUSH_AUDIENCE,
    });
  }
}

function stateOf(object: Pick<Route, 'status'>, type: string): string | undefined {
  const found = object.status?.conditions?.find((condition) => condition.type === type);
  return found && `${found.status}/${found.reason}`;
}
