import type { GatewaySettings } from '../../crds/types.ts';
import type { StoredSettings } from '../kubernetes/stored-resources.ts';
import type { Problem } from '../validate/problem.ts';
import { andThen, made, type CompileResult } from './compile-result.ts';
import { compileSettings, type SettingsOutput } from './compile-settings.ts';
import { defaultOutput, NO_SETTINGS } from './default-settings.ts';
import { generationOf, isSameGeneration } from './generation.ts';
import { isOfClass } from './is-of-class.ts';
import { readServed, readStored } from './read-stored.ts';
import { CLUSTER_ISSUER_URL } from '../../shared/snapshot/cluster-issuer-url.ts';
import { configMapsOf, secretsOf } from './settings-references.ts';
import type { ChangedReferables, SettingsSources } from './referables.ts';
import { namespaceOf, resourceName, type CompileOptions } from './resources.ts';

/** Settings that serve, compiled with the Secrets that they were accepted with. */
export interface ServedSettings extends SettingsGeneration {
  readonly output: SettingsOutput;
}

interface SettingsGeneration {
  readonly generation: number;
  readonly settings: GatewaySettings;
}

/** The newest generation, as it was stored and as it was read. */
interface Newest {
  readonly resource: StoredSettings;
  readonly settings: CompileResult<GatewaySettings>;
}

/** The generation to serve while the newest one is rejected. */
type LastGood =
  | { readonly kind: 'serving'; readonly served: ServedSettings }
  /** It served in another process but cannot be used here, for example because a Secret is missing. */
  | { readonly kind: 'recorded'; readonly earlier: SettingsGeneration }
  | { readonly kind: 'unknown' };

type State =
  /** There are no settings. Either the defaults serve or nothing does. */
  | { readonly kind: 'absent'; readonly served: ServedSettings | undefined }
  /** The newest generation serves. */
  | { readonly kind: 'accepted'; readonly newest: Newest; readonly served: ServedSettings }
  | {
      readonly kind: 'rejected';
      readonly newest: Newest;
      readonly problems: readonly Problem[];
      readonly lastGood: LastGood;
    };

/**
 * The settings of a gateway: the newest generation that can be used with its Secrets, and the
 * problems of the newest generation of all.
 */
export class SettingsKeeper {
  readonly #options: CompileOptions;
  #state: State = { kind: 'absent', served: undefined };

  constructor(options: CompileOptions) {
    this.#options = options;
  }

  /** The newest generation, as it was stored; undefined if there are no settings. */
  get resource(): StoredSettings | undefined {
    return this.#state.kind === 'absent' ? undefined : this.#state.newest.resource;
  }

  /** The settings that serve. */
  get served(): ServedSettings | undefined {
    if (this.#state.kind !== 'rejected') return this.#state.served;
    const { lastGood } = this.#state;
    return lastGood.kind === 'serving' ? lastGood.served : undefined;
  }

  /** Everything wrong with the newest generation. */
  get problems(): readonly Problem[] {
    return this.#state.kind === 'rejected' ? this.#state.problems : [];
  }

  /** Whether the newest generation serves. */
  get isAccepted(): boolean {
    return this.#state.kind === 'accepted';
  }

  /** The reason why nothing can serve although there are settings. */
  get obstacle(): string | undefined {
    if (this.#state.kind !== 'rejected' || this.#state.lastGood.kind === 'serving')
      return undefined;
    const name = resourceName(this.#state.newest.resource);
    return `GatewaySettings ${name} cannot be used, and no earlier generation of it is known`;
  }

  /** `namespace/name` of the Secrets of every generation that may serve. */
  get secretNames(): ReadonlySet<string> {
    return new Set(this.#generations.flatMap(secretsOf));
  }

  /** `namespace/name` of the ConfigMaps of every generation that may serve. */
  get configMapNames(): ReadonlySet<string> {
    return new Set(this.#generations.flatMap(configMapsOf));
  }

  /** Whether any generation that may serve refers to one of these. */
  refersTo({ secretNames, configMapNames }: ChangedReferables): boolean {
    const [secrets, configMaps] = [this.secretNames, this.configMapNames];
    return (
      secretNames.some((name) => secrets.has(name)) ||
      configMapNames.some((name) => configMaps.has(name))
    );
  }

  /** Whether any generation that may serve has the cluster as an identity provider. */
  get needsClusterIssuer(): boolean {
    return this.#generations.some(usesClusterIssuer);
  }

  /** Every generation that may serve. */
  get #generations(): readonly GatewaySettings[] {
    if (this.#state.kind === 'absent') return [];
    const { settings } = this.#state.newest;
    const newest = settings.kind === 'made' ? [settings.value] : [];
    const lastGood = lastGoodOf(this.#state);
    const earlier =
      lastGood.kind === 'recorded' ? lastGood.earlier.settings : this.served?.settings;
    return [...newest, ...(earlier ? [earlier] : [])];
  }

  /** Replaces the settings; undefined removes them. A change of the status only is recorded. */
  put(resource: StoredSettings | undefined, sources: SettingsSources): void {
    const { gatewayClassName } = this.#options;
    if (resource === undefined || !isOfClass(resource.spec, gatewayClassName)) {
      this.#state = { kind: 'absent', served: this.#defaults() };
    } else if (
      this.#state.kind !== 'absent' &&
      isSameGeneration(this.#state.newest.resource, resource)
    ) {
      this.#state = { ...this.#state, newest: { ...this.#state.newest, resource } };
    } else {
      const settings = readStored('GatewaySettings', { ...idOf(resource), spec: resource.spec });
      this.#state = this.#judge({ resource, settings }, this.#lastGoodBefore(resource), sources);
    }
  }

  /**
   * Replaces the settings. If the newest generation is rejected, the one that served in another process
   * replaces an older one that serves here.
   */
  adopt(resource: StoredSettings, sources: SettingsSources): void {
    this.put(resource, sources);
    if (this.#state.kind !== 'rejected') return;
    const { newest, lastGood } = this.#state;
    const earlier = this.#readEarlier(newest.resource);
    const known = lastGood.kind === 'serving' ? lastGood.served.generation : -1;
    if (earlier === undefined || earlier.generation <= known) return;
    const recorded = this.#tryRecorded(earlier, sources);
    const isBetter = recorded.kind === 'serving' || lastGood.kind !== 'serving';
    if (isBetter) this.#state = { ...this.#state, lastGood: recorded };
  }

  /** Compiles the settings with Secrets and ConfigMaps that may have changed. */
  compile(sources: SettingsSources): void {
    if (this.#state.kind === 'absent') return;
    this.#state = this.#judge(this.#state.newest, lastGoodOf(this.#state), sources);
  }

  #judge(newest: Newest, lastGood: LastGood, sources: SettingsSources): State {
    const generation = generationOf(newest.resource);
    const served = andThen(newest.settings, (settings) =>
      this.#serve({ generation, settings }, sources),
    );
    if (served.kind === 'made') return { kind: 'accepted', newest, served: served.value };
    return {
      kind: 'rejected',
      newest,
      problems: served.problems,
      lastGood:
        lastGood.kind === 'recorded' ? this.#tryRecorded(lastGood.earlier, sources) : lastGood,
    };
  }

  #lastGoodBefore(next: StoredSettings): LastGood {
    if (this.#state.kind === 'absent') {
      const { served } = this.#state;
      if (served !== undefined) return { kind: 'serving', served };
    } else if (this.#state.newest.resource.metadata.uid === next.metadata.uid) {
      return lastGoodOf(this.#state);
    }
    // Settings that were deleted and created again have no history here.
    const earlier = this.#readEarlier(next);
    return earlier === undefined ? { kind: 'unknown' } : { kind: 'recorded', earlier };
  }

  #tryRecorded(earlier: SettingsGeneration, sources: SettingsSources): LastGood {
    const served = this.#serve(earlier, sources);
    if (served.kind === 'made') return { kind: 'serving', served: served.value };
    return { kind: 'recorded', earlier };
  }

  #serve(generation: SettingsGeneration, sources: SettingsSources): CompileResult<ServedSettings> {
    return andThen(compileSettings(generation.settings, sources, this.#options), (output) =>
      made({ ...generation, output }),
    );
  }

  #defaults(): ServedSettings | undefined {
    if (this.#options.withoutSettings === undefined) return undefined;
    return { generation: 0, settings: NO_SETTINGS, output: defaultOutput(this.#options) };
  }

  /** Reads the generation that served in another process from the status. */
  #readEarlier(resource: StoredSettings): SettingsGeneration | undefined {
    // It may be the newest, which may have served with a Secret that is missing now.
    const served = readServed(resource.status, generationOf(resource) + 1);
    if (served === undefined) return undefined;
    if (!isOfClass(served.spec, this.#options.gatewayClassName)) return undefined;
    const read = readStored('GatewaySettings', { ...idOf(resource), spec: served.spec });
    if (read.kind === 'invalid') return undefined;
    return { generation: served.number, settings: read.value };
  }
}

function lastGoodOf(state: Exclude<State, { kind: 'absent' }>): LastGood {
  if (state.kind === 'rejected') return state.lastGood;
  return { kind: 'serving', served: state.served };
}

function idOf(resource: StoredSettings): { readonly namespace: string; readonly name: string } {
  return { namespace: namespaceOf(resource), name: resource.metadata.name };
}

function usesClusterIssuer({ spec: { identityProviders = [] } }: GatewaySettings): boolean {
  return identityProviders.some(({ issuerUrl }) => issuerUrl === CLUSTER_ISSUER_URL);
}
