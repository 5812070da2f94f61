import { AsyncLocalStorage } from 'node:async_hooks';

import type { CustomFetch } from 'openid-client';

type Observer = (url: string, response: Response) => Promise<void>;

const observers = new AsyncLocalStorage<Observer>();

/** `fetch`, whose responses are seen by who observes before they are by who asked. */
export const observedFetch: CustomFetch = async (url, options) => {
  const { body = null, ...init } = options;
  const response = await fetch(url, { ...init, body });
  await observers.getStore()?.(url, response.clone());
  return response;
};

/** Shows an observer every response that `run` gets by `observedFetch`. */
export function observeResponses<Result>(
  observer: Observer,
  run: () => Promise<Result>,
): Promise<Result> {
  return observers.run(observer, run);
}
