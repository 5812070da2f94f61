import {
  LONGEST_CONTROLLER_LINE_BYTES,
  type PutFrame,
} from '../../../shared/snapshot/push-frames.ts';
import { resourceKey } from '../../../shared/snapshot/resource-key.ts';
import type { CompiledResource, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';

/** A published resource. */
export class PublishedResource {
  readonly resource: SnapshotResource;
  /** Sequence of the revision that introduced this content. */
  readonly since: number;
  /** Keys of the Services that a route forwards to. */
  readonly serviceKeys: readonly string[];
  #line: Buffer | undefined;

  constructor(resource: SnapshotResource, since: number) {
    this.resource = resource;
    this.since = since;
    this.serviceKeys = serviceKeysOf(resource.value);
  }

  /** Its `put` frame, serialised once for all proxies. */
  get line(): Buffer {
    this.#line ??= this.#serialise();
    return this.#line;
  }

  /** Whether a proxy would end the stream because of its frame, and every stream after that. */
  get isTooLarge(): boolean {
    return this.line.length > LONGEST_CONTROLLER_LINE_BYTES;
  }

  #serialise(): Buffer {
    const { key, hash, value } = this.resource;
    const frame: PutFrame = { t: 'put', k: key, h: hash, v: value };
    return Buffer.from(`${JSON.stringify(frame)}\n`);
  }
}

function serviceKeysOf(value: CompiledResource): readonly string[] {
  if (value.kind !== 'route' || value.backends === undefined) return [];
  const keys: string[] = [];
  for (const { service: name } of value.backends) {
    if (name !== undefined) keys.push(resourceKey({ kind: 'service', name, ports: [] }));
  }
  return keys;
}
