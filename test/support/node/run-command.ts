import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

interface CommandOptions {
  readonly input?: string;
  readonly directory?: string;
}

/** Runs a program to its end, and returns what it printed. Rejects with all of its output if it fails. */
export async function runCommand(
  program: string,
  args: readonly string[],
  { input = '', directory = process.cwd() }: CommandOptions = {},
): Promise<string> {
  const child = spawn(program, args, { cwd: directory, stdio: 'pipe' });
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', reject);
  });
  // A program that does not read its input may end before it is written.
  child.stdin.on('error', () => undefined).end(input);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if ((await code) === 0) return output;
  throw new Error([`${program} ${args.join(' ')} failed:`, errors, output].join('\n'));
}
