import type { Arguments, CommandLine } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

/** Flags of `gatehouse demo`. */
export const DEMO_LINE: CommandLine = {
  name: 'demo',
  summary:
    'Start a demo on this machine: an identity provider, MCP servers, an application, and the gateway between',
  flags: {
    port: {
      kind: 'text',
      environment: 'GATEHOUSE_DEMO_PORT',
      defaultValue: '8080',
      value: 'PORT',
      description: 'First of four ports of the gateway; 0 takes free ones.',
    },
    'idp-port': {
      kind: 'text',
      environment: 'GATEHOUSE_DEMO_IDP_PORT',
      defaultValue: '9191',
      value: 'PORT',
      description: 'Port of the identity provider; 0 takes a free one.',
    },
    'mcp-port': {
      kind: 'text',
      environment: 'GATEHOUSE_DEMO_MCP_PORT',
      defaultValue: '9292',
      value: 'PORT',
      description: 'Port of the sample MCP server; 0 takes a free one.',
    },
  },
};

const MAX_PORT = 65_535;

/** A port to listen on, and the flag and the variable that change it. */
export interface WantedPort {
  readonly port: number;
  readonly flag: string;
  readonly environment: string;
}

/** Ports of the demo. */
export interface DemoFlags {
  readonly gateway: WantedPort;
  readonly identityProvider: WantedPort;
  readonly mcpServer: WantedPort;
}

/** Throws `UsageError` if a value is not a port. */
export function readDemoFlags(flags: Arguments): DemoFlags {
  return {
    gateway: readPort(flags, 'port'),
    identityProvider: readPort(flags, 'idp-port'),
    mcpServer: readPort(flags, 'mcp-port'),
  };
}

function readPort(flags: Arguments, name: string): WantedPort {
  const text = flags.text(name) ?? '';
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= MAX_PORT)) {
    throw new UsageError(`--${name} must be a port from 0 to ${String(MAX_PORT)}, not "${text}"`);
  }
  return { port, flag: `--${name}`, environment: DEMO_LINE.flags[name]?.environment ?? '' };
}
