import { afterAll, beforeAll } from '@jest/globals';

/** Opens something once for the surrounding tests, which get it by a call, and disposes of it after them. */
export function openForAll<Opened extends AsyncDisposable>(
  open: () => Promise<Opened>,
): () => Opened {
  let opened: Opened | undefined;
  beforeAll(async () => {
    opened = await open();
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
  });
  return () => {
    if (opened === undefined) throw new Error('only tests can use it');
    return opened;
  };
}
