import type { Clock } from '../../shared/runtime/clock.ts';
import type { SecretValues } from '../validate/secret.ts';
import { parseConfigMapValues } from '../kubernetes/parse-config-map-values.ts';
import { parseSecretValues } from '../kubernetes/parse-secret-values.ts';
import type { KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import type { Reflector } from '../kubernetes/reflector.ts';
import { CONFIG_MAPS, NAMESPACES, SECRETS } from '../kubernetes/resource-types.ts';
import type { ChangeBatcher } from './change-batcher.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import { ClusterIssuerWatch } from './cluster-issuer-watch.ts';
import { NamedObjects } from './named-objects.ts';
import { onDifference, type ReflectorSet } from './reflector-set.ts';

/** The resources that the settings and routes refer to. */
export interface References {
  /** `namespace/name` of Secrets. */
  readonly secretNames: ReadonlySet<string>;
  /** `namespace/name` of ConfigMaps. */
  readonly configMapNames: ReadonlySet<string>;
  /** Whether the labels of namespaces are needed. */
  readonly namespaces: boolean;
  /** Whether the issuer of the cluster is needed. */
  readonly clusterIssuer: boolean;
}

/** Options of WatchedReferences. */
export interface WatchedReferencesOptions {
  readonly api: KubernetesApi;
  readonly logger: Logger;
  readonly reflectors: ReflectorSet;
  readonly batcher: ChangeBatcher;
  readonly clock: Clock;
  /** The longest time that changes wait for a Secret or ConfigMap, or for the issuer of the cluster. */
  readonly secretPatienceMs: number;
}

interface WatchedIssuer {
  readonly watch: ClusterIssuerWatch;
  readonly patience: Disposable;
}

/**
 * Secrets, ConfigMaps, labels of namespaces, and the issuer of the cluster, watched only while something
 * refers to them.
 */
export class WatchedReferences implements AsyncDisposable {
  readonly #options: WatchedReferencesOptions;
  readonly #secrets: NamedObjects<SecretValues>;
  readonly #configMaps: NamedObjects<ReadonlyMap<string, string>>;
  #namespaces: Reflector<Readonly<Record<string, string>>> | undefined;
  #issuer: WatchedIssuer | undefined;

  constructor(options: WatchedReferencesOptions) {
    this.#options = options;
    const common = { ...options, patienceMs: options.secretPatienceMs };
    this.#secrets = new NamedObjects({
      ...common,
      type: SECRETS,
      parse: parseSecretValues,
      into: ({ secrets }) => secrets,
    });
    this.#configMaps = new NamedObjects({
      ...common,
      type: CONFIG_MAPS,
      parse: parseConfigMapValues,
      into: ({ configMaps }) => configMaps,
    });
  }

  /** Watches these references, and stops watching all others. */
  subscribe({ secretNames, configMapNames, namespaces, clusterIssuer }: References): void {
    this.#secrets.subscribe(secretNames);
    this.#configMaps.subscribe(configMapNames);
    if (namespaces) this.#namespaces ??= this.#openNamespaces();
    else this.#closeNamespaces();
    if (clusterIssuer) this.#issuer ??= this.#openIssuer();
    else this.#closeIssuer();
  }

  /** Stops the timers, and the reading of the issuer. The reflectors belong to their set. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#secrets[Symbol.dispose]();
    this.#configMaps[Symbol.dispose]();
    this.#issuer?.patience[Symbol.dispose]();
    await this.#issuer?.watch[Symbol.asyncDispose]();
  }

  #openNamespaces(): Reflector<Readonly<Record<string, string>>> {
    const { reflectors, batcher } = this.#options;
    const reflector = reflectors.open(
      NAMESPACES,
      {},
      {
        parse: ({ metadata }) => metadata.labels ?? {},
        onChange: onDifference((name, labels: Readonly<Record<string, string>> | undefined) =>
          batcher.change(({ namespaces }) => namespaces.set(name, labels)),
        ),
      },
    );
    // Without labels no Route is admitted, so changes wait without a limit.
    batcher.awaitReference(reflector, reflector.synced);
    return reflector;
  }

  #closeNamespaces(): void {
    const { reflectors, batcher } = this.#options;
    const reflector = this.#namespaces;
    if (reflector === undefined) return;
    this.#namespaces = undefined;
    reflectors.close(reflector);
    batcher.stopAwaiting(reflector);
    batcher.change(({ namespaces }) => {
      for (const name of reflector.keys()) namespaces.set(name, undefined);
    });
  }

  #openIssuer(): WatchedIssuer {
    const { api, logger, batcher, clock, secretPatienceMs } = this.#options;
    const watch = new ClusterIssuerWatch({
      ...{ api, logger, clock },
      onReading: (reading) => batcher.change((batch) => (batch.clusterIssuer = reading)),
    });
    batcher.awaitReference(watch, watch.answered);
    const patience = clock.after(secretPatienceMs, () => batcher.stopAwaiting(watch));
    return { watch, patience };
  }

  #closeIssuer(): void {
    const { batcher } = this.#options;
    const issuer = this.#issuer;
    if (issuer === undefined) return;
    this.#issuer = undefined;
    issuer.patience[Symbol.dispose]();
    // Disposing never rejects.
    void issuer.watch[Symbol.asyncDispose]();
    batcher.stopAwaiting(issuer.watch);
    batcher.change((batch) => (batch.clusterIssuer = {}));
  }
}
