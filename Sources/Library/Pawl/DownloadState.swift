// The kernel's enum is a part of the library.
@_exported public import enum PawlBase.DownloadState
