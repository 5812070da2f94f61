/** The ceiling of anything built on node:http: it reads the request and answers it itself. */
import './upstream.ts';
