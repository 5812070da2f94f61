// JavaScript, because nothing that is loaded before this is cached.
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Compiled code is kept beside the dependencies, which only users who may change this program can write.
// Attack: in a shared folder such as /tmp, other users of the machine could place their own code.
// If the folder cannot be written, as in a read-only image, every start compiles what it does not hold
// for this user: Node keeps a folder in it for each.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/gatehouse'));
