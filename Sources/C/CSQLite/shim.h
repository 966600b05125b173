// The only access to SQLite: wrappers for variadic functions and macros with casts.
#pragma once
#if !__has_include(<sqlite3.h>)
#error "sqlite3.h is missing: install libsqlite3-dev"
#endif
#include <sqlite3.h>

#if SQLITE_VERSION_NUMBER < 3037000
#error "SQLite 3.37 or newer is needed: the tables are STRICT"
#endif

// SQLite copies the text before this returns.
static inline int pawl_bind_text(sqlite3_stmt *statement, int place, const char *text, sqlite3_uint64 length) {
    return sqlite3_bind_text64(statement, place, text, length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

// No SQL can damage the file, nothing in a file's schema can call functions with effects, and closing leaves the files
// unchanged.
static inline int pawl_defend(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (!code) code = sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    return code ? code : sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Makes closing checkpoint and remove the log.
static inline int pawl_close_with_checkpoint(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, (int *)0);
}

// The error number of the last system call on the files of this connection that failed, 0 when none did: a commit does not
// pass it on to sqlite3_system_errno.
static inline int pawl_last_errno(sqlite3 *database) {
    int number = 0;
    sqlite3_file *log = 0;
    if (!database) return 0;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (!number) sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}
