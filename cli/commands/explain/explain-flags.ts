import type { CommandLine } from '../../arguments.ts';
import { CLUSTER_FLAGS, NAMESPACE_FLAGS } from '../../flags/cluster-flags.ts';
import { DEV_ALLOW_LOOPBACK } from '../../flags/dev-allow-loopback.ts';

/** Flags of `gatehouse explain`. */
export const EXPLAIN_LINE: CommandLine = {
  name: 'explain',
  summary: 'Explain what the gateway would do with a request, and why',
  flags: {
    file: {
      kind: 'list',
      short: 'f',
      value: 'FILE|DIR',
      description:
        'Manifests or plain YAML, as for `gatehouse validate`. Without it, they are read from a cluster.',
    },
    route: {
      kind: 'text',
      value: '[NAMESPACE/]NAME',
      description: 'The Route that the request is for. Not needed if there is only one, or a URL.',
    },
    ...NAMESPACE_FLAGS,
    url: { kind: 'text', value: 'URL', description: 'The URL of the request.' },
    method: {
      kind: 'text',
      value: 'METHOD',
      description: 'Defaults to GET; on MCP routes to POST.',
    },
    path: {
      kind: 'text',
      value: 'PATH',
      description: 'Path of the URL, with a query or without. Defaults to that of the Route.',
    },
    header: { kind: 'list', value: 'NAME:VALUE', description: 'A header field of the request.' },
    'client-address': {
      kind: 'text',
      value: 'ADDRESS',
      description: 'Address at the other end of the connection. Defaults to 127.0.0.1.',
    },
    time: {
      kind: 'text',
      value: 'TIME',
      description: 'When the request is made, such as 2026-11-22T09:00:00Z. Defaults to now.',
    },
    'mcp-method': {
      kind: 'text',
      value: 'METHOD',
      description: 'Method of the MCP message. Defaults to what follows; else to tools/list.',
    },
    tool: { kind: 'text', value: 'NAME', description: 'The tool of a tools/call.' },
    arguments: {
      kind: 'text',
      value: 'JSON',
      description: 'Arguments of the tool or of the prompt, as an object.',
    },
    resource: { kind: 'text', value: 'URI', description: 'The resource of a resources/read.' },
    prompt: { kind: 'text', value: 'NAME', description: 'The prompt of a prompts/get.' },
    user: {
      kind: 'text',
      value: 'SUB',
      description:
        'The user, by the `sub` of the identity provider. Without a user or a token, the request is anonymous.',
    },
    email: { kind: 'text', value: 'ADDRESS', description: "The user's email address, verified." },
    groups: {
      kind: 'list',
      value: 'NAMES',
      description: "The user's groups, separated by commas.",
    },
    claim: {
      kind: 'list',
      value: 'NAME=VALUE',
      description: 'A claim of the user: JSON, or else a text.',
    },
    claims: {
      kind: 'text',
      value: 'FILE',
      description: 'All claims of the user, as a JSON object; - is the standard input.',
    },
    'token-file': {
      kind: 'text',
      value: 'FILE',
      description: 'A file with the bearer token of the request; - is the standard input.',
    },
    token: {
      kind: 'text',
      environment: 'GATEHOUSE_TOKEN',
      value: 'TOKEN',
      description:
        'The bearer token itself. Others on this machine can read command lines: prefer a file.',
    },
    output: {
      kind: 'text',
      defaultValue: 'text',
      value: 'text|json',
      description: 'The form of the explanation.',
    },
    ...CLUSTER_FLAGS,
    'dev-allow-loopback': DEV_ALLOW_LOOPBACK,
  },
};
