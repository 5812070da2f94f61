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
/** Characters compressed at a time: few enough that nothing waits for them. */
const BATCH_CHARACTERS = 64 * 1024;

/** The keys that seal a snapshot, and the location for which it is sealed. */
export interface SnapshotSeal {
  readonly sealer: Sealer;
  readonly context: string;
}

/** Thrown if sealed text is not a snapshot that can be served. The message does not quote the text. */
class UnreadableSnapshotError extends Error {
  override readonly name = 'UnreadableSnapshotError';
}

/**
 * Seals a snapshot: position and version in the first line, then a line for each resource,
 * compressed. Hashes are left out, because the version covers all of them.
 *
 * Lines can be read in time slices; one JSON text would block everything else while it is parsed.
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
 * Opens a sealed snapshot, and checks it like one that a controller sends. Rejects with an
 * `UnreadableSnapshotError` if it was sealed for a different location or by different keys, or cannot be
 * served.
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
 * Returns the position inside the seal, which only holders of a key can write; undefined if no key
 * opens it. Works for snapshots of other releases too, which this one may not be able to serve.
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
    // It is not a snapshot.
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
    throw new UnreadableSnapshotError('the version does not match the resources');
  }
  const parsed = parsePosition(position);
  if (parsed === undefined) throw new UnreadableSnapshotError('there is no position');
  return { position: parsed, snapshot: { version, resources } };
}

/** Parses a line: a list of two, the first a string. */
function pairOf(line: string | undefined): readonly [string, unknown] {
  const pair: unknown = JSON.parse(line ?? 'null');
  if (!Array.isArray(pair) || typeof pair[0] !== 'string') {
    throw new UnreadableSnapshotError('a line is not part of a snapshot');
  }
  return [pair[0], pair[1]];
}
