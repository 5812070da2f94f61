/** What a record takes besides its text: keys, objects, and the entry of the map. */
const OVERHEAD_BYTES = 512;

/** Estimates how many bytes a record of plain data takes in memory: at most two for each character. */
export function sizeInMemory(record: unknown): number {
  return OVERHEAD_BYTES + 2 * JSON.stringify(record).length;
}
