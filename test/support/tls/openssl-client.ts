import { spawn } from 'node:child_process';
import { once } from 'node:events';

const HANG_GUARD_MS = 20_000;

/**
 * Connects by `openssl s_client`, sends `input` and no more, and resolves with all that it printed when the
 * connection has ended.
 */
export async function opensslClient(
  port: number,
  args: readonly string[],
  input = '',
): Promise<string> {
  const address = `127.0.0.1:${String(port)}`;
  const child = spawn('openssl', ['s_client', '-connect', address, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: HANG_GUARD_MS,
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('latin1')));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('latin1')));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  await once(child, 'close');
  return output;
}
