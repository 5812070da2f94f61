import { afterEach } from '@jest/globals';

/** Makes a function that registers what a test opens; it is disposed of after the test, last first. */
export function disposeAfterEach(): <Opened extends AsyncDisposable>(each: Opened) => Opened {
  let opened = new AsyncDisposableStack();
  afterEach(async () => {
    const ended = opened;
    opened = new AsyncDisposableStack();
    await ended.disposeAsync();
  });
  return (each) => opened.use(each);
}
