import type { GatewaySettings } from '../../crds/types.ts';
import type { StoredSettings } from '../kubernetes/stored-resources.ts';
import { compileSettings, type SettingsParts } from './compile-settings.ts';
import { defaultParts, NO_SETTINGS } from './default-settings.ts';
import type { Problem } from '../validate/problem.ts';
import { andThen, type CompileResult } from './compile-result.ts';
import { isOfClass, readServed, readStored } from './read-stored.ts';
import { resourceName, namespaceOf, type CompileOptions, type Secrets } from './resources.ts';

/** Settings that serve, of whatever generation, with the Secrets that they were accepted with. */
export interface ServedSettings {
  readonly generation: number;
  readonly settings: GatewaySettings;
  readonly parts: SettingsParts;
}

/**
 * The settings of a gateway: the newest generation that can be used with its Secrets, and why the
 * newest of all cannot.
 */
export class SettingsKeeper {
  readonly #options: CompileOptions;
  #resource: StoredSettings | undefined;
  #newest: CompileResult<GatewaySettings> | undefined;
  /** What served in another process, to begin with. */
  #before: { readonly generation: number; readonly settings: GatewaySettings } | undefined;
  #served: ServedSettings | undefined;
  #problems: readonly Problem[] = [];

  constructor(options: CompileOptions) {
    this.#options = options;
  }

  /** The newest generation, as it came; undefined when there are none. */
  get resource(): StoredSettings | undefined {
    return this.#resource;
  }

  get served(): ServedSettings | undefined {
    return this.#served;
  }

  /** Everything wrong with the newest generation. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  get isAccepted(): boolean {
    return this.#resource !== undefined && this.#problems.length === 0;
  }

  /** Why there is nothing to serve with although there are settings. */
  get obstacle(): string | undefined {
    if (this.#resource === undefined || this.#served !== undefined) return undefined;
    const name = resourceName(this.#resource);
    return `GatewaySettings ${name} cannot be used, and no earlier generation of it is known`;
  }

  /** `namespace/name` of the Secrets that any generation refers to that may serve. */
  get secretNames(): ReadonlySet<string> {
    const newest = this.#newest?.kind === 'made' ? [this.#newest.value] : [];
    const others = [this.#served, this.#before].flatMap((one) => (one ? [one.settings] : []));
    return new Set([...newest, ...others].flatMap(secretsOf));
  }

  /** Takes settings, or undefined when they are gone. A new status of theirs changes nothing. */
  put(resource: StoredSettings | undefined, secrets: Secrets): void {
    const isOurs =
      resource !== undefined && isOfClass(resource.spec, this.#options.gatewayClassName);
    const next = isOurs ? resource : undefined;
    if (next !== undefined && isSameGeneration(this.#resource, next)) {
      this.#resource = next;
      return;
    }
    if (next === undefined) {
      this.#served = this.#options.withoutSettings && defaultSettings(this.#options);
      this.#before = undefined;
    } else if (next.metadata.uid !== this.#resource?.metadata.uid) {
      // Settings that were deleted and created again are different ones, of which nothing is known.
      if (this.#resource !== undefined) this.#served = undefined;
      this.#before = this.#readBefore(next);
    }
    this.#resource = next;
    this.#newest = next && readStored('GatewaySettings', { ...placeOf(next), spec: next.spec });
    this.compile(secrets);
  }

  /**
   * Takes settings with what another process made of them: a generation that served there, where it
   * is newer than the one that serves here and the newest cannot.
   */
  adopt(resource: StoredSettings, secrets: Secrets): void {
    this.put(resource, secrets);
    const before = this.#resource && this.#readBefore(this.#resource);
    if (this.isAccepted || before === undefined) return;
    if (before.generation <= (this.#served?.generation ?? -1)) return;
    const outcome = this.#serve(before.generation, before.settings, secrets);
    if (outcome.kind === 'made') this.#served = outcome.value;
    else if (this.#served === undefined) this.#before = before;
  }

  /** Compiles the settings with Secrets that may have changed. */
  compile(secrets: Secrets): void {
    this.#problems = [];
    if (this.#newest === undefined || this.#resource === undefined) return;
    const generation = generationOf(this.#resource);
    const outcome = andThen(this.#newest, (settings) => this.#serve(generation, settings, secrets));
    if (outcome.kind === 'made') {
      this.#before = undefined;
      this.#served = outcome.value;
      return;
    }
    this.#problems = outcome.problems;
    if (this.#served !== undefined || this.#before === undefined) return;
    const { generation: earlier, settings } = this.#before;
    const fallback = this.#serve(earlier, settings, secrets);
    if (fallback.kind === 'made') this.#served = fallback.value;
  }

  #serve(
    generation: number,
    settings: GatewaySettings,
    secrets: Secrets,
  ): CompileResult<ServedSettings> {
    return andThen(compileSettings(settings, secrets, this.#options), (parts) => ({
      kind: 'made',
      value: { generation, settings, parts },
    }));
  }

  #readBefore(
    resource: StoredSettings,
  ): { readonly generation: number; readonly settings: GatewaySettings } | undefined {
    // The newest may have served with a Secret that is there no more.
    const served = readServed(resource.status, generationOf(resource) + 1);
    if (served === undefined) return undefined;
    if (!isOfClass(served.spec, this.#options.gatewayClassName)) return undefined;
    const read = readStored('GatewaySettings', { ...placeOf(resource), spec: served.spec });
    if (read.kind === 'invalid') return undefined;
    return { generation: served.number, settings: read.value };
  }
}

function defaultSettings(options: CompileOptions): ServedSettings {
  return { generation: 0, settings: NO_SETTINGS, parts: defaultParts(options) };
}

function placeOf(resource: StoredSettings): {
  readonly namespace: string;
  readonly name: string;
} {
  return { namespace: namespaceOf(resource), name: resource.metadata.name };
}

function isSameGeneration(before: StoredSettings | undefined, now: StoredSettings): boolean {
  const { uid, generation } = now.metadata;
  const isSame = uid === before?.metadata.uid && generation === before?.metadata.generation;
  return isSame && generation !== undefined;
}

function generationOf({ metadata }: StoredSettings): number {
  return metadata.generation ?? 0;
}

function secretsOf(settings: GatewaySettings): readonly string[] {
  const { identityProviders = [], signingKeyRefs = [] } = settings.spec;
  const refs = [
    ...identityProviders.flatMap(({ clientSecretRef }) => clientSecretRef ?? []),
    ...signingKeyRefs,
  ];
  return refs.map(({ name }) => `${namespaceOf(settings)}/${name}`);
}
