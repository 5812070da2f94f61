import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';
import type { Compilation, RouteVerdict, SettingsVerdict } from './compilation.ts';
import { Differences } from './differences.ts';
import type { HostOwner } from './routes/host-holds.ts';

/** Collects snapshot resources and verdicts. Each report returns those that changed. */
export class CompilationReport {
  readonly #resources = new Differences<SnapshotResource>(({ hash }) => hash);
  readonly #routes = new Differences<RouteVerdict>(markOf);
  readonly #hosts = new Differences<HostOwner>((owner) => JSON.stringify(owner));
  readonly #settings = new Differences<SettingsVerdict>(markOf);

  /** Undefined removes the resource. */
  setResource(key: string, resource: SnapshotResource | undefined): void {
    this.#resources.set(key, resource);
  }

  /** Undefined: the route is gone. */
  setRoute(name: string, verdict: RouteVerdict | undefined): void {
    this.#routes.set(name, verdict);
  }

  /** Undefined: another process need not know the owner of the host. */
  setHost(host: string, owner: HostOwner | undefined): void {
    this.#hosts.set(host, owner);
  }

  /** Undefined: the settings are gone. */
  setSettings(verdict: SettingsVerdict | undefined): void {
    this.#settings.set(SETTINGS, verdict);
  }

  /** Returns what changed since the last report. */
  report(): Compilation {
    const settings = this.#settings.report();
    const resources = [...this.#resources.report()];
    return {
      put: resources.flatMap(([, resource]) => resource ?? []),
      deleted: resources.flatMap(([key, resource]) => (resource === undefined ? [key] : [])),
      routes: this.#routes.report(),
      hosts: this.#hosts.report(),
      ...(settings.has(SETTINGS) && { settings: settings.get(SETTINGS) ?? null }),
    };
  }
}

const SETTINGS = 'settings';

/** Returns equal marks for verdicts with equal statuses. Equal generations have equal specs. */
function markOf({ resource, served, ...rest }: RouteVerdict | SettingsVerdict): string {
  const { uid, generation } = resource.metadata;
  return JSON.stringify([uid, generation, served?.generation, served?.hash, rest]);
}
