import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import jest from 'eslint-plugin-jest';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const IMPORTED = 'Import it: the global costs a call at each use (decision D-147).';
const PURE = 'This folder is pure: take the time, a timer or a random value as a parameter.';

/** A copy made by `Object.assign` keeps the type of a permit, whatever was changed in it. */
const NO_ASSIGN = {
  object: 'Object',
  property: 'assign',
  message: 'Use a spread, which drops brands.',
};

/** Clocks, timers, randomness and the process: none of them belongs in a pure function. */
const IMPURE_GLOBALS = [
  'Date',
  'crypto',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'fetch',
];

export default defineConfig(
  { ignores: ['coverage/', 'artifacts/', 'crds/types.ts', '**/generated/'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      complexity: ['error', 15],
      'max-depth': ['error', 3],
      'max-lines': ['error', { max: 300, skipBlankLines: false, skipComments: false }],
      'max-params': ['error', 4],
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Use a named export.' },
        // `npm run names` reads declarations.
        {
          selector: 'ExportNamedDeclaration > ExportSpecifier',
          message: 'Export a name where it is declared.',
        },
        {
          selector:
            'ExportNamedDeclaration > VariableDeclaration > VariableDeclarator > :matches(ObjectPattern, ArrayPattern)',
          message: 'Declare each exported name by itself.',
        },
      ],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: false, requireDefaultForNonUnion: true },
      ],
    },
  },
  {
    files: ['proxy/**/*.ts'],
    rules: { 'no-restricted-properties': ['error', NO_ASSIGN] },
  },
  {
    files: [
      'controller/compile/**/*.ts',
      'controller/validate/**/*.ts',
      'proxy/policy/**/*.ts',
      'proxy/mcp/**/*.ts',
      'proxy/json/**/*.ts',
      'shared/paths/**/*.ts',
      'shared/policy/**/*.ts',
      'shared/snapshot/**/*.ts',
    ],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['global', 'globalThis', ...IMPURE_GLOBALS].map((name) => ({ name, message: PURE })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: PURE },
        NO_ASSIGN,
      ],
    },
  },
  {
    // What every request runs. Node defines these globals by accessors, which V8 calls at each use.
    files: ['proxy/{forwarding,http,pipeline,server,upstream-client}/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['Buffer', 'performance', 'process'].map((name) => ({ name, message: IMPORTED })),
      ],
    },
  },
  {
    // The other folders may not import node:crypto at all.
    files: ['controller/compile/**/*.ts', 'controller/validate/**/*.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          name: 'node:crypto',
          allowImportNames: [
            'KeyObject',
            'createHash',
            'createPrivateKey',
            'createPublicKey',
            'X509Certificate',
          ],
          message: PURE,
        },
      ],
    },
  },
  {
    // Stages and endpoints see a client's message by our own types, whatever HTTP version carries it.
    files: ['proxy/**/*.ts'],
    ignores: [
      'proxy/server/**',
      // These are HTTP/1.1 clients: what they name are the responses of upstreams.
      'proxy/forwarding/websocket/**',
      'proxy/outbound/pinned-request.ts',
      // An HTTP/2 client of the controller.
      'proxy/push/**',
    ],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          name: 'node:http',
          importNames: ['IncomingMessage', 'ServerResponse'],
          message: 'Use RequestMessage and ClientResponse of proxy/http.',
        },
        { name: 'node:http2', message: 'Only proxy/server knows how HTTP is carried.' },
      ],
    },
  },
  {
    files: ['test/**/*.test.ts'],
    extends: [jest.configs['flat/recommended'], jest.configs['flat/style']],
    rules: {
      'jest/no-standalone-expect': [
        'error',
        { additionalTestBlockFunctions: ['testOfCurl', 'testOfHttp1', 'verifies'] },
      ],
      'jest/expect-expect': ['error', { assertFunctionNames: ['expect', 'expect*', 'fc.assert'] }],
    },
  },
  {
    files: ['**/*.cjs'],
    languageOptions: { globals: { module: 'writable', require: 'readonly' } },
  },
  prettier,
);
