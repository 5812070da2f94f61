import type { PutFrame } from '../../shared/snapshot/push-frames.ts';
import type { SnapshotResource } from '../../shared/snapshot/snapshot.ts';

/** A resource of what is published. */
export class PublishedResource {
  readonly resource: SnapshotResource;
  /** Sequence of the revision that it came with. */
  readonly since: number;
  #line: Buffer | undefined;

  constructor(resource: SnapshotResource, since: number) {
    this.resource = resource;
    this.since = since;
  }

  /** Its frame, serialised once for all proxies. */
  get line(): Buffer {
    this.#line ??= this.#serialise();
    return this.#line;
  }

  #serialise(): Buffer {
    const { key, hash, value } = this.resource;
    const frame: PutFrame = { t: 'put', k: key, h: hash, v: value };
    return Buffer.from(`${JSON.stringify(frame)}\n`);
  }
}
