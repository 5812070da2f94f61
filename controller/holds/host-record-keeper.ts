import { isDeepStrictEqual } from 'node:util';

import { pause, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/telemetry/logger.ts';
import type { HostOwner, HostRecords } from '../compile/routes/host-holds.ts';
import { CONFLICT, NOT_FOUND } from '../kubernetes/error-codes.ts';
import { KubernetesApiError, type KubernetesApi } from '../kubernetes/kubernetes-api.ts';
import type { KubernetesObject } from '../kubernetes/objects.ts';
import { apiVersionOf, CONFIG_MAPS, NAMESPACES } from '../kubernetes/resource-types.ts';
import { formatHostRecord, parseHostRecord, type HostRecord } from './host-record.ts';

const SECOND = 1000;
/** The time between two looks at what operators changed. */
const POLL_MS = 10 * SECOND;
/** The time between two writes, so that a namespace with many changes cannot keep the server busy. */
const PACE_MS = SECOND;
const LONGEST_RETRY_MS = 30 * SECOND;
/** A new leader waits for the record, so it asks again soon. */
const READ_AGAIN_MS = 2 * SECOND;
/** The most namespaces that are looked up in one poll. */
const NAMESPACES_A_POLL = 20;

/** Options of a HostRecordKeeper. */
export interface HostRecordKeeperOptions {
  readonly api: Pick<KubernetesApi, 'get' | 'create' | 'replace'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The ConfigMap. */
  readonly place: { readonly namespace: string; readonly name: string };
  /** Namespaces that hosts are held for. */
  readonly holders: () => ReadonlySet<string>;
  /** Receives hosts whose entry somebody else removed from the ConfigMap. */
  readonly onReleased: (hosts: readonly string[]) => void;
  /** Receives namespaces that do not exist any longer. */
  readonly onEnded: (namespaces: ReadonlySet<string>) => void;
}

/**
 * The record of held hosts in a ConfigMap, where the next leader finds it.
 *
 * The leader writes it, one request after the other, and retries until a write succeeds. An entry that
 * somebody else removes is released. A deleted ConfigMap is written again, because it may be the
 * accident that the record is for.
 */
export class HostRecordKeeper {
  readonly #options: HostRecordKeeperOptions;
  readonly #wanted = new Map<string, HostOwner>();
  /** The newest version that this process read or wrote; undefined if there is none. */
  #stored: KubernetesObject | undefined;
  #wake: () => void = () => undefined;
  #isChanged = false;
  #failures = 0;
  #isFull = false;
  #looked: ReadonlySet<string> = new Set();

  constructor(options: HostRecordKeeperOptions) {
    this.#options = options;
  }

  /** Changes what the record has to hold. It is written by the leader only. */
  change(hosts: HostRecords): void {
    for (const [host, owner] of hosts) {
      if (owner === undefined) this.#wanted.delete(host);
      else this.#wanted.set(host, owner);
    }
    if (hosts.size === 0) return;
    this.#isChanged = true;
    this.#wake();
  }

  /**
   * Reads the record that the previous leader wrote. It retries until that succeeds, because without
   * it hosts would go to whoever waits for them. Undefined if the signal aborts before.
   *
   * If there is no ConfigMap, this process knows best: what it holds itself is the record.
   */
  async load(signal: AbortSignal): Promise<HostRecord | undefined> {
    while (!signal.aborted) {
      try {
        this.#stored = await this.#read();
        this.#recordSuccess();
        return this.#stored === undefined
          ? new Map(this.#wanted)
          : parseHostRecord(this.#stored['data']);
      } catch (error) {
        this.#recordFailure(error);
        await pause(this.#options.clock, READ_AGAIN_MS, signal);
      }
    }
    return undefined;
  }

  /** Keeps the record until the signal aborts. Never rejects. */
  async keep(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const hasEnded = (): boolean => signal.aborted;
    while (!hasEnded()) {
      let waitMs = PACE_MS;
      try {
        this.#isChanged = false;
        await this.#synchronize(signal);
        await this.#lookForEnded();
        this.#recordSuccess();
      } catch (error) {
        if (isCode(error, CONFLICT)) this.#isChanged = true;
        else if (!hasEnded()) waitMs = this.#recordFailure(error);
      }
      await pause(clock, waitMs, signal);
      if (this.#failures === 0) await this.#untilChanged(signal);
    }
  }

  /** Waits for a change, or for the next poll. */
  async #untilChanged(signal: AbortSignal): Promise<void> {
    if (this.#isChanged || signal.aborted) return;
    const woken = new AbortController();
    this.#wake = () => woken.abort();
    await pause(this.#options.clock, POLL_MS, AbortSignal.any([signal, woken.signal]));
  }

  async #synchronize(signal: AbortSignal): Promise<void> {
    const { api, place } = this.#options;
    const hasEnded = (): boolean => signal.aborted;
    const isEmpty = this.#wanted.size === 0 && this.#stored === undefined;
    if (isEmpty || hasEnded()) return;
    const before = this.#stored;
    const found = await this.#read();
    if (hasEnded()) return;
    this.#stored = found;
    if (before !== undefined && this.#stored !== undefined) this.#release(before, this.#stored);
    const data = this.#format();
    if (hasEnded() || isDeepStrictEqual(data, dataOf(this.#stored))) return;
    const metadata = { ...place, ...versionOf(this.#stored) };
    const object = {
      apiVersion: apiVersionOf(CONFIG_MAPS),
      kind: CONFIG_MAPS.kind,
      metadata,
      data,
    };
    this.#stored = await (this.#stored === undefined
      ? api.create(CONFIG_MAPS, place.namespace, object)
      : api.replace(CONFIG_MAPS, place, object));
  }

  /** Releases the hosts of entries that somebody else removed. */
  #release(before: KubernetesObject, after: KubernetesObject): void {
    if (before.metadata.resourceVersion === after.metadata.resourceVersion) return;
    const now = parseHostRecord(after['data']);
    const removed = [...parseHostRecord(before['data']).keys()].filter((host) => !now.has(host));
    if (removed.length > 0) this.#options.onReleased(removed);
  }

  #format(): Readonly<Record<string, string>> {
    const { data, omitted } = formatHostRecord(this.#wanted);
    if (omitted > 0 && !this.#isFull) {
      this.#options.logger.error('too many held hosts to store all of them', { omitted });
    }
    this.#isFull = omitted > 0;
    return data;
  }

  /** Resolves with undefined if the ConfigMap does not exist. */
  async #read(): Promise<KubernetesObject | undefined> {
    const { api, place } = this.#options;
    try {
      return await api.get(CONFIG_MAPS, place);
    } catch (error) {
      if (isCode(error, NOT_FOUND)) return undefined;
      throw error;
    }
  }

  /** Looks up some of the namespaces that hosts are held for, others each time. */
  async #lookForEnded(): Promise<void> {
    const { api, holders, onEnded } = this.#options;
    const all = [...holders()];
    const unseen = all.filter((namespace) => !this.#looked.has(namespace));
    const names = (unseen.length > 0 ? unseen : all).slice(0, NAMESPACES_A_POLL);
    this.#looked = new Set([...(unseen.length > 0 ? this.#looked : []), ...names]);
    for (const name of names) {
      try {
        await api.get(NAMESPACES, { name });
      } catch (error) {
        if (!isCode(error, NOT_FOUND)) throw error;
        onEnded(new Set([name]));
      }
    }
  }

  /** Returns how long to wait before the next attempt. */
  #recordFailure(error: unknown): number {
    if (this.#failures === 0) {
      const { place, logger } = this.#options;
      logger.error('cannot keep the record of held hosts, trying again', { ...place }, error);
    }
    this.#failures += 1;
    return Math.min(SECOND * 2 ** this.#failures, LONGEST_RETRY_MS);
  }

  #recordSuccess(): void {
    if (this.#failures > 0) this.#options.logger.info('the record of held hosts is kept again');
    this.#failures = 0;
  }
}

function dataOf(object: KubernetesObject | undefined): unknown {
  return object === undefined ? undefined : (object['data'] ?? {});
}

function versionOf(object: KubernetesObject | undefined): { readonly resourceVersion?: string } {
  const version = object?.metadata.resourceVersion;
  return version === undefined ? {} : { resourceVersion: version };
}

function isCode(error: unknown, code: number): boolean {
  return error instanceof KubernetesApiError && error.code === code;
}
