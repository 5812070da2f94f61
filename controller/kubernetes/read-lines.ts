/** Splits a stream of UTF-8 into lines, wherever its chunks are cut. A last line without end is lost. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    begun += first;
    for (const next of others) {
      yield begun;
      begun = next;
    }
  }
}
