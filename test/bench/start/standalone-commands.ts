import { startGatehouse, type CommandProgram } from '../../support/cli.ts';
import { freePort } from '../../support/free-port.ts';
import { send } from '../../support/http-client.ts';
import type { TemporaryDirectory } from '../../support/temporary-directory.ts';
import type { CompileCache } from './compile-cache.ts';
import { costUntil, untilReady, type Cost } from './cost.ts';
import type { Subject } from './subject.ts';
import { runToEnd } from './run-to-end.ts';

const ANY_ADDRESS = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
const ANY_PORTS = ['--port', '0', '--idp-port', '0', '--mcp-port', '0'];

/** The commands that need nothing but files. `directory` gets the files. */
export async function standaloneCommands(
  { variables }: CompileCache,
  { directory, routes }: { readonly directory: TemporaryDirectory; readonly routes: number },
): Promise<readonly Subject[]> {
  const one = await directory.write('one.yaml', await configuration(1));
  const many = await directory.write('many.yaml', await configuration(routes));
  const run = (config: string) => (program: CommandProgram) =>
    serve(['run', '--config', config, ...ANY_ADDRESS, '--dev-allow-loopback'], variables, program);
  const toEnd =
    (...argv: readonly string[]) =>
    (program: CommandProgram) =>
      runToEnd([...program, ...argv], variables);
  return [
    // Node without the script.
    {
      name: 'node -e 0',
      start: (program) => runToEnd([...program.slice(0, -1), '-e', '0'], variables),
    },
    { name: '--help', start: toEnd('--help') },
    { name: 'validate', start: toEnd('validate', '-f', one, '--dev-allow-loopback') },
    { name: 'explain', start: toEnd('explain', '-f', one, '--dev-allow-loopback') },
    { name: 'run', start: run(one) },
    { name: `run, ${String(routes)} routes`, start: run(many) },
    {
      name: 'demo',
      start: (program) => startDemo(variables, program),
      promisedWallMs: 3000,
    },
  ];
}

async function serve(
  argv: readonly string[],
  variables: CompileCache['variables'],
  program: CommandProgram,
): Promise<Cost> {
  await using gatehouse = startGatehouse(argv, variables, program);
  const cost = await costUntil(gatehouse.pid, async () => {
    const { admin } = await gatehouse.listening();
    await untilReady(admin);
  });
  gatehouse.signal('SIGTERM');
  await gatehouse.exited();
  return cost;
}

/** Until the gateway of the demo answers. */
async function startDemo(
  variables: CompileCache['variables'],
  program: CommandProgram,
): Promise<Cost> {
  await using demo = startGatehouse(['demo', ...ANY_PORTS], variables, program);
  const cost = await costUntil(demo.pid, async () => {
    const { addresses } = await demo.listening();
    const { status } = await send(`http://${String([addresses].flat()[0])}/`);
    if (status === 0) throw new Error('the demo does not answer');
  });
  demo.signal('SIGTERM');
  await demo.exited();
  return cost;
}

/** Public routes, one of which has a listener. */
async function configuration(count: number): Promise<string> {
  const port = await freePort();
  const routes = Array.from({ length: count }, (_, index) => ({
    name: `route-${String(index)}`,
    from: `http://${index === 0 ? `localhost:${String(port)}` : `r${String(index)}.example.test`}`,
    to: 'http://127.0.0.1:1',
    allow_public_unauthenticated_access: true,
  }));
  // JSON is YAML.
  return JSON.stringify({ routes });
}
