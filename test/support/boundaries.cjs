'use strict';

/** Data flows one way, and so do imports. `npm run boundaries` enforces it. */
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-folder-cycles',
      comment: 'Folders depend downwards only, types included.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
    {
      name: 'proxy-knows-no-kubernetes',
      severity: 'error',
      from: { path: '^proxy/' },
      to: { path: '^controller/|node_modules/@kubernetes/' },
    },
    {
      name: 'controller-knows-no-proxy',
      severity: 'error',
      from: { path: '^controller/' },
      to: { path: '^proxy/|node_modules/(ioredis|http-proxy|openid-client|jose)/' },
    },
    {
      name: 'shared-is-a-leaf',
      severity: 'error',
      from: { path: '^shared/' },
      to: { path: '^(controller|proxy|test)/' },
    },
    {
      name: 'compile-and-validate-are-pure',
      comment:
        'The compiler is a function of its input: no network, no clock, no Kubernetes client. Hashes and keys (node:crypto) are values; eslint.config.js forbids its random sources. One file asks OpenSSL about a certificate.',
      severity: 'error',
      from: {
        path: '^controller/(compile|validate)/',
        pathNot: '^controller/compile/certificates/refusal-of-openssl\\.ts$',
      },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(buffer|crypto)$' },
    },
    {
      name: 'pure-folders-know-no-clock',
      comment: 'Neither by a way around Date and Math.random.',
      severity: 'error',
      from: {
        path: '^(controller/(compile|validate)|proxy/(policy|mcp|json)|shared/(paths|policy|snapshot))/',
      },
      to: { path: '^(shared/runtime/clock|proxy/crypto/)' },
    },
    {
      name: 'compile-and-validate-know-no-cluster',
      severity: 'error',
      from: { path: '^controller/(compile|validate)/' },
      to: {
        path: '^controller/(?!compile/|validate/)|node_modules/@kubernetes/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'proxy-knows-no-manifests',
      severity: 'error',
      from: { path: '^proxy/' },
      to: { path: '^crds/' },
    },
    {
      name: 'policy-and-mcp-are-pure',
      comment: 'Decisions are functions of the request: no network, no clock.',
      severity: 'error',
      from: { path: '^(proxy/(policy|mcp)|shared/policy)/' },
      to: {
        dependencyTypes: ['core'],
        pathNot: '^(node:)?buffer$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'policy-and-mcp-use-no-libraries',
      severity: 'error',
      from: { path: '^(proxy/(policy|mcp)|shared/policy)/' },
      to: { path: 'node_modules/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'stages-know-no-sockets',
      comment:
        'What serves a request is handed to the stages; they never reach back to the server.',
      severity: 'error',
      from: {
        path: '^proxy/(authentication|authorization-server|identity|outbound|mcp|policy|store)/',
      },
      to: { path: '^proxy/(pipeline|server)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'upstream-client-is-behind-forwarding',
      comment: 'Only permitted requests reach upstreams, and forwarding sends nothing else.',
      severity: 'error',
      from: {
        path: '^(cli|controller|proxy|shared)/',
        pathNot: '^proxy/(forwarding|upstream-client)/',
      },
      to: { path: '^proxy/upstream-client/' },
    },
    {
      name: 'upstream-client-knows-no-gateway',
      severity: 'error',
      from: { path: '^proxy/upstream-client/' },
      to: {
        path: '^(cli|controller|proxy|shared)/|node_modules/(?!@types/)',
        pathNot: '^proxy/(errors|upstream-client)/',
      },
    },
    {
      name: 'undici-stays-in-the-controller',
      comment: 'Decision D-131.',
      severity: 'error',
      from: { path: '^proxy/' },
      to: { path: 'node_modules/undici/' },
    },
    {
      name: 'schemas-are-for-generation',
      comment: 'Processes load what `make generate` makes of them (decision D-139).',
      severity: 'error',
      from: { path: '^(cli|controller|proxy|shared)/', pathNot: '/schemas/' },
      to: {
        path: '/schemas/|^crds/read-crd-schema',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'redis-stays-behind-the-stores',
      comment: 'Everything else knows the interfaces in proxy/store/, and never which one it has.',
      severity: 'error',
      from: { path: '^(cli|controller|proxy|shared)/', pathNot: '^proxy/store/redis/' },
      to: { path: 'node_modules/ioredis/' },
    },
    {
      name: 'shared-holds-six-folders',
      comment:
        'The contract, the policy language, how both sides read paths, and what both processes run: nothing else is shared.',
      severity: 'error',
      from: {},
      to: { path: '^shared/', pathNot: '^shared/(admin|paths|policy|runtime|snapshot|telemetry)/' },
    },
    {
      name: 'commands-load-when-they-run',
      comment: 'Loading all commands takes half a second of CPU, so a start loads one of them.',
      severity: 'error',
      from: { path: '^cli/([^/]+|flags/.+|.+-flags)\\.[jt]s$' },
      to: {
        path: '^(controller|proxy)/|^cli/(process/|commands/[^/]+\\.ts|demo/demo\\.ts)',
        pathNot: '^controller/(compile/duration|validate/nearest-name)\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
    {
      name: 'only-the-cli-knows-both-sides',
      severity: 'error',
      from: { path: '^(controller|proxy|shared)/' },
      to: { path: '^cli/' },
    },
    {
      name: 'production-code-imports-no-tests',
      severity: 'error',
      from: { path: '^(cli|controller|image|proxy|shared)/' },
      to: { path: '^test/' },
    },
    {
      name: 'the-image-is-built-around-the-program',
      comment: 'What builds the image knows the command, and nothing knows what builds the image.',
      severity: 'error',
      from: { path: '^(cli|controller|crds|proxy|shared)/' },
      to: { path: '^image/' },
    },
    {
      name: 'production-code-uses-no-dev-dependencies',
      severity: 'error',
      from: { path: '^(cli|controller|proxy|shared)/', pathNot: '^cli/demo/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
