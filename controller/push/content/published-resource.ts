import {
  LONGEST_CONTROLLER_LINE_BYTES,
  type PutFrame,
} from '../../../shared/snapshot/push-frames.ts';
import { certificateKey, serviceKey } from '../../../shared/snapshot/resource-key.ts';
import type { CompiledResource, SnapshotResource } from '../../../shared/snapshot/snapshot.ts';

/** A published resource. */
export class PublishedResource {
  readonly resource: SnapshotResource;
  /** Sequence of the revision that introduced this content. */
  readonly since: number;
  /** Keys of what a route needs: the Services that it forwards to, and its certificates. */
  readonly partKeys: readonly string[];
  #line: Buffer | undefined;

  constructor(resource: SnapshotResource, since: number) {
    this.resource = resource;
    this.since = since;
    this.partKeys = partKeysOf(resource.value);
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

function partKeysOf(value: CompiledResource): readonly string[] {
  if (value.kind === 'settings') {
    const { defaultCertificate: name } = value;
    return name === undefined ? [] : [certificateKey(name)];
  }
  if (value.kind !== 'route') return [];
  const keys = (value.certificates ?? []).map(certificateKey);
  for (const { service: name } of value.backends ?? []) {
    if (name !== undefined) keys.push(serviceKey(name));
  }
  return keys;
}
