import {
  LONGEST_CONTROLLER_LINE_BYTES,
  type PutFrame,
} from '../../../shared/snapshot/push-frames.ts';
import { resourceKey } from '../../../shared/snapshot/resource-key.ts';
import type { CompiledResource, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';

/** A resource of what is published. */
export class PublishedResource {
  readonly resource: SnapshotResource;
  /** Sequence of the revision that it came with. */
  readonly since: number;
  /** Of a route: keys of the Services that its requests go to. */
  readonly serviceKeys: readonly string[];
  #line: Buffer | undefined;

  constructor(resource: SnapshotResource, since: number) {
    this.resource = resource;
    this.since = since;
    this.serviceKeys = serviceKeysOf(resource.value);
  }

  /** Its frame, serialised once for all proxies. */
  get line(): Buffer {
    this.#line ??= this.#serialise();
    return this.#line;
  }

  /** A proxy ends the stream that it comes with, and every other one after it. */
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
