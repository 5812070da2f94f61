import { setFlagsFromString } from 'node:v8';

/**
 * Keeps V8 from discarding compiled code while there are few requests. Call it before the first request.
 *
 * Decision D-146: after V8 has collected garbage to save memory, thousands of requests cost more.
 */
export function keepCompiledCode(): void {
  setFlagsFromString('--memory-reducer-gc-count=0');
}
