import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';

import { TimeSlices } from '../../../shared/runtime/time-slices.ts';
import { SnapshotDigest } from '../../../shared/snapshot/snapshot-digest.ts';
import { parseResource } from '../../../shared/snapshot/parse-resource.ts';
import { readLines } from '../../../shared/runtime/read-lines.ts';
import {
  formatPosition,
  parsePosition,
  type SnapshotPosition,
} from '../../../shared/snapshot/snapshot-position.ts';
import type { SnapshotResource } from '../../../shared/snapshot/snapshot.ts';
import type { Sealed, Sealer } from '../../crypto/sealer.ts';
import type { PlacedSnapshot } from './snapshot-keeper.ts';

const LONGEST_LINE_BYTES = 64 * 1024 * 1024;
/** Compressed together, and small enough that nothing waits for it. */
const BATCH_CHARACTERS = 64 * 1024;

/** How it is sealed, and for which place alone. */
export interface SnapshotSeal {
  readonly sealer: Sealer;
  readonly context: string;
}

/** Thrown for what is no snapshot that can be served. The message holds nothing of it. */
class UnreadableSnapshotError extends Error {
  override readonly name = 'UnreadableSnapshotError';
}

/**
 * Seals a snapshot: position and version in the first line, then a line for each resource, compressed.
 * The hashes are left out, because the version vouches for all of them.
 *
 * Lines, and not one JSON text: that one would stop everything else for the time it takes to read it.
 */
export async function sealSnapshot(
  placed: PlacedSnapshot,
  { sealer, context }: SnapshotSeal,
): Promise<Sealed> {
  const compressed = await pipeline(
    Readable.from(batchesOf(placed)),
    createGzip({ level: constants.Z_BEST_SPEED }),
    (chunks: AsyncIterable<Buffer>) => buffer(chunks),
  );
  return sealer.seal(compressed.toString('base64'), context);
}

/**
 * Opens what was sealed, and checks it like what a controller sends. Rejects with an
 * `UnreadableSnapshotError` when it was sealed elsewhere or by others, or cannot be served.
 */
export async function openSnapshot(
  sealed: string,
  { sealer, context }: SnapshotSeal,
): Promise<PlacedSnapshot> {
  const text = sealer.open(sealed, context);
  if (text === null) {
    throw new UnreadableSnapshotError('the snapshot does not open with the sealing keys');
  }
  try {
    const source = Readable.from([Buffer.from(text, 'base64')]);
    return await pipeline(source, createGunzip(), readSnapshot);
  } catch (error) {
    throw new UnreadableSnapshotError('the snapshot cannot be served', { cause: error });
  }
}

/**
 * The position inside the seal, which nobody without a key can change; undefined when none of the keys
 * opens it. It is known of a snapshot that another release made as well, and that this one cannot serve.
 */
export async function positionOfSealed(
  sealed: string,
  { sealer, context }: SnapshotSeal,
): Promise<SnapshotPosition | undefined> {
  const text = sealer.open(sealed, context);
  if (text === null) return undefined;
  // Only the beginning is read.
  const beginning = createGunzip();
  beginning.end(Buffer.from(text, 'base64'));
  try {
    const [position] = pairOf((await readLines(beginning, LONGEST_LINE_BYTES).next()).value);
    return parsePosition(position);
  } catch {
    // Whatever it is, it is no snapshot.
    return undefined;
  } finally {
    beginning.destroy();
  }
}

async function* batchesOf({ position, snapshot }: PlacedSnapshot): AsyncGenerator<string> {
  const slices = new TimeSlices();
  let batch = `${JSON.stringify([formatPosition(position), snapshot.version])}\n`;
  for (const { key, value } of snapshot.resources.values()) {
    batch += `${JSON.stringify([key, value])}\n`;
    if (batch.length < BATCH_CHARACTERS) continue;
    yield batch;
    batch = '';
    await slices.pause();
  }
  yield batch;
}

async function readSnapshot(chunks: AsyncIterable<Buffer>): Promise<PlacedSnapshot> {
  const slices = new TimeSlices();
  const lines = readLines(chunks, LONGEST_LINE_BYTES);
  const [position, version] = pairOf((await lines.next()).value);
  const resources = new Map<string, SnapshotResource>();
  const digest = new SnapshotDigest();
  for await (const line of lines) {
    const [key, value] = pairOf(line);
    const resource = parseResource({ key, value });
    resources.set(key, resource);
    digest.put(key, resource.hash);
    await slices.pause();
  }
  if (digest.version() !== version) {
    throw new UnreadableSnapshotError('the version does not fit the resources');
  }
  const parsed = parsePosition(position);
  if (parsed === undefined) throw new UnreadableSnapshotError('there is no position');
  return { position: parsed, snapshot: { version, resources } };
}

/** A line is a list of two, the first a string. */
function pairOf(line: string | undefined): readonly [string, unknown] {
  const pair: unknown = JSON.parse(line ?? 'null');
  if (!Array.isArray(pair) || typeof pair[0] !== 'string') {
    throw new UnreadableSnapshotError('a line is none of a snapshot');
  }
  return [pair[0], pair[1]];
}
