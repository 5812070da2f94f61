import { describeError } from '../../../shared/telemetry/describe-error.ts';
import { connect } from './connect.ts';
import { openBrowser } from './open-browser.ts';
import { CLIENT_USAGE, readClientFlags, type ClientFlags } from './client-flags.ts';
import { signInWithoutBrowser } from './sign-in-without-browser.ts';
import { bold, dim } from './text.ts';
import { takeTour } from './tour.ts';

const WRONG_USAGE = 2;

process.exitCode = await run();

async function run(): Promise<number> {
  if (process.argv.includes('--help')) {
    process.stdout.write(CLIENT_USAGE);
    return 0;
  }
  const options = readOptions();
  if (options === undefined) return WRONG_USAGE;
  try {
    await visit(options);
    return 0;
  } catch (error) {
    process.stderr.write(`${explain(error, options.serverUrl)}\n`);
    return 1;
  }
}

function explain(error: unknown, serverUrl: URL): string {
  if (!isConnectionRefused(error)) return describeError(error);
  return `No server at ${serverUrl.href}. Start the demo in another terminal: make run`;
}

function isConnectionRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ECONNREFUSED') || isConnectionRefused(error.cause);
}

function readOptions(): ClientFlags | undefined {
  try {
    return readClientFlags(process.argv.slice(2), process.env);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    process.stderr.write(`${error.message}\n\n${CLIENT_USAGE}`);
    return undefined;
  }
}

async function visit({ serverUrl, account }: ClientFlags): Promise<void> {
  print(`Connecting to ${bold(serverUrl.href)}`);
  const client = await connect(serverUrl, (url) =>
    account === undefined ? showSignIn(url) : signInAs(account, url),
  );
  try {
    print('Signed in, and connected.');
    await takeTour(client, print);
  } finally {
    await client.close();
  }
}

function showSignIn(url: URL): void {
  print(`The gateway wants to know who you are. Open this in a browser:\n\n  ${url.href}`);
  print(dim('Waiting until you are back … (without a browser: npm run demo:client -- --as alice)'));
  openBrowser(url);
}

async function signInAs(account: string, url: URL): Promise<void> {
  print(
    `The gateway wants to know who you are. Signing in as ${bold(account)}, without a browser:`,
  );
  await signInWithoutBrowser(url, account, (title) => {
    process.stdout.write(dim(`  page “${title}”\n`));
  });
  process.stdout.write('\n');
}

function print(text: string): void {
  process.stdout.write(`${text}\n\n`);
}
