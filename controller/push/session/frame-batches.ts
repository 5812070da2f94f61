import type {
  BeginFrame,
  CommitFrame,
  DeleteFrame,
  KeepFrame,
} from '../../../shared/snapshot/push-frames.ts';
import type { Delivery } from '../content/published-content.ts';

/** Limits of one write: the event loop serves other work in between. */
const BATCH_LINES = 200;
const BATCH_BYTES = 128 * 1024;
/** The lines that every delivery has. */
const BEGIN_AND_COMMIT = 2;

/** The number of lines of a delivery. */
export function frameCount({ put, kept, deleted }: Delivery): number {
  return put.length + kept.length + deleted.length + BEGIN_AND_COMMIT;
}

/** The lines of a delivery, from `begin` to `commit`, in batches. `trace` is its `traceparent`. */
export function* frameBatches(delivery: Delivery, trace: string | undefined): Generator<Buffer> {
  let batch: Buffer[] = [];
  let bytes = 0;
  for (const line of linesOf(delivery, trace)) {
    batch.push(line);
    bytes += line.length;
    if (batch.length < BATCH_LINES && bytes < BATCH_BYTES) continue;
    yield Buffer.concat(batch, bytes);
    batch = [];
    bytes = 0;
  }
  if (bytes > 0) yield Buffer.concat(batch, bytes);
}

function* linesOf(
  { position, sent, base, put, kept, deleted }: Delivery,
  trace: string | undefined,
): Generator<Buffer> {
  yield lineOf({
    t: 'begin',
    epoch: position.epoch,
    seq: position.sequence,
    base: base ?? null,
    count: put.length + kept.length + deleted.length,
    ...(trace !== undefined && { trace }),
  });
  for (const { line } of put) yield line;
  for (const [key, hash] of kept) yield lineOf({ t: 'keep', k: key, h: hash });
  for (const key of deleted) yield lineOf({ t: 'del', k: key });
  yield lineOf({ t: 'commit', version: sent.version });
}

function lineOf(frame: BeginFrame | KeepFrame | DeleteFrame | CommitFrame): Buffer {
  return Buffer.from(`${JSON.stringify(frame)}\n`);
}
