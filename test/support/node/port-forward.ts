import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a command that forwards ports, as a person leaves it running. Disposing of it ends it. */
export function runPortForward(command: string): AsyncDisposable {
  const [program = '', ...args] = command.trim().split(/\s+/);
  const child = spawn(program, args, { stdio: 'ignore' });
  return {
    [Symbol.asyncDispose]: async () => {
      const ended = once(child, 'close');
      child.kill();
      await ended;
    },
  };
}
