import type { Command } from '../command.ts';
import { DEMO_LINE } from '../demo/options.ts';

/** `gatehouse demo`: an identity provider, an MCP server, and a gateway between. */
export const DEMO: Command = {
  line: DEMO_LINE,
  async run(flags, environment) {
    // What the demo needs are development dependencies: they are loaded for the demo only.
    const { runDemo } = await import('../demo/demo.ts');
    return runDemo(flags, environment);
  },
};
