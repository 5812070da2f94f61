import type { ProfileNode } from '../support/profile-session.ts';

/** The part of a request's work that a function belongs to. */
export interface Area {
  readonly name: string;
  /** Matches paths in the repository, and names of modules of Node such as `node:net`. */
  readonly files: RegExp;
}

const LOG_FILE: Area = { name: 'write to the log file', files: /^node:(internal\/)?fs/ };
const OTHER = 'other';

/** The first that matches counts. */
const AREAS: readonly Area[] = [
  LOG_FILE,
  { name: 'log line', files: /^(proxy|shared)\/telemetry\// },
  { name: 'JSON and MCP', files: /^proxy\/(json|mcp)\/|^proxy\/pipeline\/(inspect|mcp-answer)/ },
  { name: 'policy', files: /^proxy\/policy\/|^proxy\/pipeline\/(authorize|permit)/ },
  {
    name: 'request head for the upstream, assertion',
    files:
      /^proxy\/(forwarding\/(request\/|hop-by-hop|foreign-|field-rules|forwarded|gateway-cookies|upstream-path)|identity\/assertion\/|pipeline\/(credentials|make-upstream))/,
  },
  {
    name: 'response head and relay',
    files:
      /^proxy\/(forwarding\/response\/|mcp-sessions\/|pipeline\/(plan-response|mcp-session)|http\/(client-response|gateway-response|raw-response|responses|send-response)|server\/(front|gathering)-response)/,
  },
  // undici too, with which older checkouts forward.
  {
    name: 'upstream client, pool, targets',
    files:
      /^proxy\/(upstream-client\/|forwarding\/|pipeline\/(forward|choose-upstream))|^node_modules\/undici\/|^wasm:/,
  },
  {
    name: 'authenticate',
    files: /^proxy\/(authentication|cache|crypto|store|identity)\/|^proxy\/pipeline\/authenticate/,
  },
  {
    name: 'read the request, parse and match',
    files: /^proxy\/(http|configuration|endpoints)\/|^proxy\/pipeline\/match-|^shared\/paths\//,
  },
  { name: 'pipeline and front of our own', files: /^(proxy|shared)\// },
  { name: 'node:http', files: /^node:_http_|^node:internal\/http/ },
  {
    name: 'sockets, streams and events of Node',
    files: /^node:(net|events|stream|internal\/(stream|js_stream|net|events|buffer)|buffer)/,
  },
  { name: 'timers, ticks and the rest of Node', files: /^node:/ },
];

const SOCKET_WRITES = /^(writev|writeBuffer|write(Latin1|Utf8|Ascii|Ucs2)String|shutdown)$/;
const PATH = /.*?\/((?:proxy|shared|node_modules)\/.*)$/;

/** What is not a function of JavaScript. */
const SPECIAL: ReadonlyMap<string, string> = new Map([
  ['(garbage collector)', 'garbage collection'],
  ['(program)', 'native code below JavaScript: reads, event loop, HTTP parser'],
]);
const IDLE = new Set(['(idle)', '(root)']);
const PROFILER = /^node:(internal\/)?inspector|\/support\/profiler\.ts$/;

/** Returns how much of a profile each area has. */
export function sumByArea(nodes: readonly ProfileNode[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const parents = parentsOf(nodes);
  for (const node of nodes.filter(isWork)) {
    const area = areaOf(node, parents);
    sums.set(area, (sums.get(area) ?? 0) + node.self);
  }
  return sums;
}

/** Returns how much of a profile each function has, by name and place. */
export function sumByFunction(nodes: readonly ProfileNode[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { name, url, self } of nodes.filter(isWork)) {
    const title = `${name || '(anonymous)'} ${placeOf(url)}`;
    sums.set(title, (sums.get(title) ?? 0) + self);
  }
  return sums;
}

/** Not the time in which nothing was to do, and not the profiler itself. */
function isWork({ name, url, self }: ProfileNode): boolean {
  return self > 0 && !IDLE.has(name) && !PROFILER.test(url);
}

function parentsOf(nodes: readonly ProfileNode[]): ReadonlyMap<number, ProfileNode> {
  return new Map(nodes.flatMap((node) => node.children.map((child) => [child, node] as const)));
}

function areaOf(node: ProfileNode, parents: ReadonlyMap<number, ProfileNode>): string {
  const special = SPECIAL.get(node.name);
  if (special !== undefined) return special;
  if (node.url !== '') return areaOfFile(placeOf(node.url));
  const parent = parents.get(node.id);
  if (parent === undefined) return OTHER;
  const areaOfCaller = areaOf(parent, parents);
  const isSocketWrite = SOCKET_WRITES.test(node.name) && areaOfCaller !== LOG_FILE.name;
  // What is native otherwise, such as a function of strings, is work of its caller.
  return isSocketWrite ? 'system calls that write to sockets' : areaOfCaller;
}

function areaOfFile(place: string): string {
  return AREAS.find(({ files }) => files.test(place))?.name ?? OTHER;
}

/** A path in the repository, or the name of a module of Node. */
function placeOf(url: string): string {
  return PATH.exec(url)?.[1] ?? url;
}
